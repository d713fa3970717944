package redistest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/internal/redistest/internal/authority"
	"github.com/weirhq/weir/internal/redistest/internal/poll"
	"github.com/weirhq/weir/internal/redistest/internal/ports"
	"github.com/weirhq/weir/internal/redistest/internal/wire"
)

func TestStart(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{Config: []string{"maxmemory 123mb"}})
	expect(t, s, "OK", "SET", "key", "a \r\n value")
	expect(t, s, "a \r\n value", "GET", []byte("key"))
	expect(t, s, nil, "GET", "none")
	expect(t, s, int64(3), "RPUSH", "list", 1, "two", 3*time.Second)
	got, err := s.Do("EVAL", "return {redis.call('LRANGE', 'list', 0, -1), 7, false, redis.error_reply('ODD one')}", 0)
	if want := []any{[]any{"1", "two", "3s"}, int64(7), nil, Error("ODD one")}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v, want %#v", got, err, want)
	}
	if got, err := s.Do("LPUSH", "key", 1); got != nil || !errors.Is(err, Error("WRONGTYPE Operation against a key holding the wrong kind of value")) {
		t.Errorf("LPUSH to a string: got %v, %v", got, err)
	}
	got, err = s.Do("CONFIG", "GET", "maxmemory")
	if want := []any{"maxmemory", fmt.Sprint(123 << 20)}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if want := "redis://" + s.Addr + "/0"; s.URL() != want {
		t.Errorf("URL is %q, want %q", s.URL(), want)
	}
}

func TestPasswordAndUser(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts     Options
		userInfo string
		me       string
		denied   string
	}{
		"password":        {Options{Password: "sesame"}, ":sesame@", "default", ""},
		"user":            {Options{User: User{Name: "alice", Password: "p/w?"}}, "alice:p%2Fw%3F@", "alice", ""},
		"user with rules": {Options{User: User{"bob", "pw", "~weir:* +@all -flushall"}, Password: "root"}, "bob:pw@", "bob", "NOPERM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Start(t, c.opts)
			if want := "redis://" + c.userInfo + s.Addr + "/0"; s.URL() != want {
				t.Errorf("URL is %q, want %q", s.URL(), want)
			}
			expect(t, s, "default", "ACL", "WHOAMI")
			client := connect(t, s)
			if me, err := command(t, client, "ACL", "WHOAMI").ToString(); err != nil || me != c.me {
				t.Errorf("the URL's user is %q, %v, want %q", me, err, c.me)
			}
			err := command(t, client, "FLUSHALL").Error()
			if (err != nil) != (c.denied != "") || err != nil && !strings.HasPrefix(err.Error(), c.denied) {
				t.Errorf("FLUSHALL: %v, want %q", err, c.denied)
			}
			if _, err := dial(t, s.Addr).Do("PING"); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
				t.Errorf("a client without a password: %v", err)
			}
		})
	}
}

// connect returns an ordinary client for the server's URL.
func connect(t *testing.T, s *Server) rueidis.Client {
	t.Helper()
	opts, err := rueidis.ParseURL(s.URL())
	must(t, err)
	if s.client.TLS != nil {
		opts.TLSConfig = s.client.TLS.Clone()
	}
	return clientOf(t, opts)
}

// clientOf returns a client that the end of the test closes.
func clientOf(t *testing.T, opts rueidis.ClientOption) rueidis.Client {
	t.Helper()
	client, err := rueidis.NewClient(opts)
	must(t, err)
	t.Cleanup(client.Close)
	return client
}

func command(t *testing.T, client rueidis.Client, words ...string) rueidis.RedisResult {
	return client.Do(t.Context(), client.B().Arbitrary(words[0]).Args(words[1:]...).Build())
}

// dial returns a bare connection that is given up with after [Patience] or the test.
func dial(t *testing.T, addr string) *wire.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(Patience)))
	return wire.NewConn(conn)
}

func TestTLS(t *testing.T) {
	t.Parallel()
	for _, clientCerts := range []bool{false, true} {
		t.Run(fmt.Sprint("client certificates ", clientCerts), func(t *testing.T) {
			t.Parallel()
			s := Start(t, Options{TLS: true, ClientCerts: clientCerts, Password: "sesame"})
			if want := "rediss://:sesame@" + s.Addr + "/0"; s.URL() != want {
				t.Errorf("URL is %q, want %q", s.URL(), want)
			}
			expect(t, s, "PONG", "PING")
			must(t, command(t, connect(t, s), "PING").Error())
			for _, file := range []string{s.CAFile, s.CertFile, s.KeyFile} {
				if _, err := os.Stat(file); err != nil {
					t.Error(err)
				}
			}
			config := s.client.TLS.Clone()
			config.Certificates = nil
			nobody := wire.NewConn(tls.Client(dial(t, s.Addr), config))
			if _, err := nobody.Do("AUTH", "sesame"); (err != nil) != clientCerts {
				t.Errorf("AUTH without a certificate: %v", err)
			}
		})
	}
}

func TestReplica(t *testing.T) {
	t.Parallel()
	master := Start(t, Options{Password: "sesame"})
	replica := Start(t, Options{ReplicaOf: master})
	must(t, poll.Until("replica", func() error { return replica.follows(master) }))
	expect(t, master, "OK", "SET", "key", 1)
	expect(t, master, int64(1), "WAIT", 1, 5000)
	expect(t, replica, "1", "GET", "key")
}

func TestRestart(t *testing.T) {
	t.Parallel()
	for _, persist := range []bool{false, true} {
		t.Run(fmt.Sprint("persist ", persist), func(t *testing.T) {
			t.Parallel()
			s := Start(t, Options{Persist: persist})
			var kept any
			if persist {
				kept = "1"
			}
			for _, end := range []func() error{s.Kill, s.Stop, s.Restart} {
				expect(t, s, "OK", "SET", "key", 1)
				addr, pid := s.Addr, s.Pid()
				must(t, end())
				must(t, s.Restart())
				if s.Addr != addr || s.Pid() == pid {
					t.Errorf("address %s and process %d became %s and %d", addr, pid, s.Addr, s.Pid())
				}
				expect(t, s, kept, "GET", "key")
			}
		})
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{})
	for _, end := range []func() error{s.Kill, s.Kill, s.Stop} {
		must(t, end())
	}
	if _, err := s.Do("PING"); err == nil || !strings.HasPrefix(err.Error(), "wire: "+s.Addr+": PING: ") {
		t.Errorf("PING to a killed server: %v", err)
	}
	if err := s.WaitReady(); !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("WaitReady of a killed server: %v", err)
	}
}

// within sends a command and reads the answer if it comes in time. If it does not, it can be read later.
func within(limit time.Duration, conn *wire.Conn, args ...any) (any, error) {
	conn.SetReadDeadline(time.Now().Add(limit))
	defer conn.SetReadDeadline(time.Now().Add(Patience))
	return conn.Do(args...)
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func TestPause(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{})
	client := dial(t, s.Addr)
	for range 2 {
		must(t, s.Pause())
		if answer, err := within(shortly, client, "PING"); !isTimeout(err) {
			t.Errorf("a paused server: got %v, %v, want a timeout", answer, err)
		}
		must(t, s.Resume())
		if answer, err := client.Reply(); err != nil || answer != "PONG" {
			t.Errorf("after the pause: got %v, %v", answer, err)
		}
	}

	must(t, s.Pause())
	must(t, s.Stop()) // wakes it
	must(t, s.Restart())
	must(t, s.Pause())
	must(t, s.Kill()) // does not need to
}

func TestCPUTime(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{})
	before, err := s.CPUTime()
	if errors.Is(err, errors.ErrUnsupported) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	must(t, err)
	must(t, poll.Until("CPU time", func() error {
		expect(t, s, nil, "EVAL", "for i = 1, 1e6 do end", 0)
		after, err := s.CPUTime()
		if err == nil && after < before+20*time.Millisecond {
			err = fmt.Errorf("it was %v and is %v", before, after)
		}
		return err
	}))
}

func TestLaunchSaysWhy(t *testing.T) {
	t.Parallel()
	Require(t)
	_, err := Launch(t.TempDir(), Options{Config: []string{"maxmemory much"}})
	if !errors.Is(err, ErrEnded) {
		t.Fatalf("got %v, want %v", err, ErrEnded)
	}
	for _, part := range []string{"exit status 1", "maxmemory", "much"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

// TestTakenPort: another server that answers on the port is not taken for ours.
func TestTakenPort(t *testing.T) {
	t.Parallel()
	other := Start(t, Options{})
	free, err := ports.Draw()
	must(t, err)
	ports := []int{other.port, other.port, free}
	s := &Server{dir: t.TempDir()}
	must(t, s.launch(func() (int, error) {
		port := ports[0]
		ports = ports[1:]
		return port, nil
	}, func(port int) []string { return s.opts.lines(port, authority.Files{}) }))
	defer s.Kill()
	if s.port != free {
		t.Errorf("the server listens on %d, want %d", s.port, free)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for want, opts := range map[string]Options{
		"ClientCerts without TLS":                    {ClientCerts: true},
		"ReplicaOf with TLS":                         {TLS: true, ReplicaOf: &Server{}},
		"User without Name":                          {User: User{Password: "pw"}},
		"User without Password":                      {User: User{Name: "alice"}},
		"the default user has Password":              {User: User{Name: "default", Password: "pw"}},
		"a name or password with a blank or a quote": {Password: "open sesame"},
	} {
		if _, err := Launch(t.TempDir(), opts); !errors.Is(err, ErrOptions) || err.Error() != "redistest: options: "+want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestRequire(t *testing.T) {
	for _, c := range []struct{ program, ci, want string }{
		{filepath.Join(t.TempDir(), "none"), "", "skipped"},
		{filepath.Join(t.TempDir(), "none"), "true", "failed"},
		{os.Args[0], "true", "passed"},
	} {
		t.Setenv(programVariable, c.program)
		t.Setenv("CI", c.ci)
		tb := &verdict{TB: t, is: "passed"}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Require(tb)
		}()
		<-done
		if tb.is != c.want {
			t.Errorf("program %s, CI %q: %s, want %s", c.program, c.ci, tb.is, c.want)
		}
	}
}

// verdict is a test that may be skipped and may fail.
type verdict struct {
	testing.TB
	is string
}

func (v *verdict) Fatal(args ...any) { v.is = "failed"; v.say(args) }
func (v *verdict) Skip(args ...any)  { v.is = "skipped"; v.say(args) }

func (v *verdict) say(args []any) {
	if !strings.Contains(fmt.Sprint(args...), programVariable) {
		v.Errorf("the reason is %v", args)
	}
}

// orphanVariable names the directory in which this program, run again, launches a server.
const orphanVariable = "REDISTEST_ORPHAN"

func launchAndWait(dir string) {
	s, err := Launch(dir, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Addr)
	select {}
}

// TestNoServerOutlivesTheTest kills a process that has launched a server.
func TestNoServerOutlivesTheTest(t *testing.T) {
	t.Parallel()
	Require(t)
	if runtime.GOOS != "linux" && os.Getenv("CI") == "" {
		t.Skip("only Linux ties a process to another")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), orphanVariable+"="+t.TempDir())
	out, err := parent.StdoutPipe()
	must(t, err)
	must(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	addr := strings.TrimSpace(line)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	conn.Close()
	must(t, parent.Process.Kill())
	parent.Wait()
	must(t, poll.Until("end of the server", func() error {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return nil
		}
		conn.Close()
		return errors.New("it still answers")
	}))
}
