package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProxyUsage(t *testing.T) {
	const see = "; see weir proxy --help\n"
	for _, c := range []struct {
		args string
		want string
	}{
		{"--to localhost", `weir: proxy: --to is "localhost"; give a URL such as http://localhost:3000` + see},
		{"--to http://a:b", `weir: proxy: --to: "http://a:b" is no URL; give one such as http://localhost:3000` + see},
		{"--to http://a --limit 10", `weir: proxy: --limit: weir: limit "10": `},
		{"--to http://a --limit 0/s", `weir: proxy: --limit: weir: limit "0/s": `},
		{"--to http://a --key user", `weir: proxy: --key is "user"; use ip, global, header:NAME or cookie:NAME` + see},
		{"--to http://a --key header:a(b", `weir: proxy: --key reads a header named "a(b"; use a header's name, such as X-API-Key` + see},
		{"--to http://a --trust-proxy lb", `weir: proxy: --trust-proxy: "lb" is neither an address nor a prefix; write it such as 10.0.0.0/8 or 192.0.2.1` + see},
		{"--to http://a --trust-proxy ::/0", `weir: proxy: --trust-proxy is ::/0: every client is a trusted proxy`},
		{"--to http://a --trust-header X-Real-IP", `weir: proxy: --trust-header is "X-Real-IP" but nobody is trusted to write it; name your proxies too` + see},
		{"--to http://a --max-keys=-1", `weir: proxy: --max-keys is -1; use 1 to 2147483647, or 0 for 16777216` + see},
		{"--to http://a --drain=-1s", `weir: proxy: --drain: -1s is negative; use 0 to cut at once` + see},
		{"--to http://127.0.0.1:3000 --listen :3000", `weir: proxy: --listen: :3000 is where --to goes; choose another port` + see},
		{"--to http://localhost --listen 127.0.0.1:80", `weir: proxy: --listen: 127.0.0.1:80 is where --to goes; choose another port` + see},
		{"--to http://a:99999", `weir: proxy: --to "http://a:99999" has the port 99999; use 1 to 65535` + see},
		{"--to http://a --trust-proxy fe80::1%eth0/64", `weir: proxy: --trust-proxy: "fe80::1%eth0/64" is neither an address nor a prefix`},
		{"--to http://a --store redis://b --max-keys 5", "weir: --max-keys and --store can't be used together; see weir proxy --help\n"},
		{"--to http://a --store b", "weir: proxy: --store: redis URL: scheme is missing; "},
		{"--to http://a --store redis://b --processes=-1", "weir: proxy: --processes is -1; use 1 to 1048576"},
		{"--to http://a --store redis://b --prefix {a}", `weir: proxy: --prefix is "{a}"; leave the braces out`},
		{"--to http://a --processes 2", "weir: proxy: --processes and --prefix are for a shared state; name its Redis with --store, such as redis://localhost:6379/0" + see},
		{"--to http://a --outage maybe", `weir: --outage must be one of "local","allow","deny","error" but got "maybe"` + see},
		{"--to http://a --listen 8080", `weir: proxy: --listen: cannot listen on "8080": `},
	} {
		got := weirDoes(append([]string{"proxy"}, strings.Fields(c.args)...)...)
		if got.status != 2 || !strings.HasPrefix(got.stderr, c.want) || got.stdout != "" {
			t.Errorf("weir proxy %s: status %d\ngot  %swant %s", c.args, got.status, got.stderr, c.want)
		}
	}
}

func TestProxyOnATakenPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	addr := ln.Addr().String()
	got := weirDoes("proxy", "--to", "http://localhost:1", "--listen", addr)
	if want := "weir: proxy: --listen: something else listens on " + addr + " already; choose another address, such as --listen :8081\n"; got.status != 1 || got.stderr != want {
		t.Errorf("status %d, %q; want 1 and %q", got.status, got.stderr, want)
	}
}

var listensOn = regexp.MustCompile(`listens on  (\S+)\n`)

// listens waits for the start message and returns the URL of the proxy.
func listens(t *testing.T, stderr *lockedBuffer) string {
	t.Helper()
	eventually(t, "the proxy says where it listens", func() bool { return strings.Contains(stderr.String(), "try it") })
	return "http://" + listensOn.FindStringSubmatch(stderr.String())[1] + "/"
}

// get returns the status of a request over a connection of its own.
func get(t *testing.T, url string) int {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func TestProxyFromStartToStop(t *testing.T) {
	upstream := httptest.NewServer(http.NotFoundHandler())
	defer upstream.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	stdout, stderr, status := &lockedBuffer{}, &lockedBuffer{}, make(chan int)
	go func() {
		status <- run(ctx, []string{"proxy", "--to", upstream.URL, "--listen", "127.0.0.1:0", "--limit", "2/h", "--limit", "5/d", "--access-log"}, stdout, stderr)
	}()
	url := listens(t, stderr)
	for i, want := range []int{404, 404, 429} {
		if got := get(t, url); got != want {
			t.Errorf("request %d: status %d, want %d", i, got, want)
		}
	}
	stop()
	if got := <-status; got != 0 {
		t.Errorf("status %d, want 0", got)
	}
	port := url[strings.LastIndexByte(url, ':'):]
	want := "weir " + Version + ": proxy\n" +
		"  listens on  127.0.0.1" + strings.TrimSuffix(port, "/") + "\n" +
		"  forwards to " + upstream.URL + "\n" +
		"  limit       2/h\n" +
		"  limit       5/d\n" +
		"  key         ip: the address that connects\n" +
		"  try it      curl -i http://localhost" + port + "\n" +
		"stopped: allowed 2, refused 1, upstream errors 0\n"
	if got := stderr.String(); got != want {
		t.Errorf("standard error is\n%swant\n%s", got, want)
	}
	if got := regexp.MustCompile(`(?m)^127\.0\.0\.1 - - \[.*\] "GET / HTTP/1\.1" (\d+) .* (allowed|refused) (\d)$`).FindAllString(stdout.String(), -1); len(got) != 3 {
		t.Errorf("standard output is\n%swant three lines of access log", stdout)
	}
}

func TestProxyWithoutALimitSaysSo(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stderr, status := &lockedBuffer{}, make(chan int)
	go func() {
		status <- run(ctx, []string{"proxy", "--to", "http://localhost:1", "--listen", "127.0.0.1:0"}, io.Discard, stderr)
	}()
	listens(t, stderr)
	stop()
	if got := <-status; got != 0 {
		t.Errorf("status %d, want 0", got)
	}
	if want := "limit       none: everything is forwarded; add one such as --limit '10/s burst 20'\n"; !strings.Contains(stderr.String(), want) {
		t.Errorf("standard error is\n%swithout\n%s", stderr, want)
	}
}

// TestProxyDrainsOnSIGTERM starts a process, since signals are one's.
func TestProxyDrainsOnSIGTERM(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-finish
		io.WriteString(w, "finished")
	}))
	defer upstream.Close()
	stderr := &lockedBuffer{}
	process := exec.Command(os.Args[0], "proxy", "--to", upstream.URL, "--listen", "127.0.0.1:0", "--limit", "100/s")
	process.Env = append(os.Environ(), asWeir+"=1")
	process.Stderr = stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(patience, func() { process.Process.Kill() })
	defer killer.Stop()
	url := listens(t, stderr)
	answer := make(chan string)
	go func() {
		res, err := http.Get(url)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			b = append(b, " then "+err.Error()...)
		}
		answer <- string(b)
	}()
	<-began
	process.Process.Signal(syscall.SIGTERM)
	eventually(t, "it says that it waits", func() bool { return strings.Contains(stderr.String(), "stopping: waiting up to 15s for 1 under way") })
	eventually(t, "new connections are refused", func() bool {
		conn, err := net.Dial("tcp", strings.Trim(url, "htp:/"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	close(finish)
	if got := <-answer; got != "finished" {
		t.Errorf("the request under way got %q, want the whole answer", got)
	}
	if err := process.Wait(); err != nil {
		t.Errorf("the process: %v, want status 0\n%s", err, stderr)
	}
	http.DefaultClient.CloseIdleConnections()
}
