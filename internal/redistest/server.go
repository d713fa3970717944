package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/internal/redistest/internal/authority"
	"github.com/weirhq/weir/internal/redistest/internal/poll"
	"github.com/weirhq/weir/internal/redistest/internal/ports"
	"github.com/weirhq/weir/internal/redistest/internal/process"
	"github.com/weirhq/weir/internal/redistest/internal/wire"
)

// Server is a running Redis server. [Server.Do] and what only looks may be called by several goroutines at once; what
// changes the process may not.
type Server struct {
	// Addr is where the server listens, host:port. It never changes.
	Addr string
	// CAFile, CertFile and KeyFile are what a client needs to trust a server with TLS, and to be trusted by it.
	CAFile, CertFile, KeyFile string

	dir     string
	opts    Options
	port    int
	args    []string // of the program, after the configuration file
	client  wire.Client
	process atomic.Pointer[process.Process]
	paused  atomic.Bool
	logged  atomic.Int64 // where the log of the latest start begins
}

// Start runs a server until the test ends. The test is skipped where the server program is missing, see [Require].
func Start(tb testing.TB, opts Options) *Server {
	tb.Helper()
	Require(tb)
	s, err := Launch(tb.TempDir(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	endWith(tb, s)
	return s
}

// Launch runs a server whose files are in dir, an empty directory, until it is stopped. It is [Start] without a test.
func Launch(dir string, opts Options) (*Server, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	opts.setDefaults()
	s := &Server{dir: dir, opts: opts}
	s.client.Password = opts.Password
	var files authority.Files
	if opts.TLS {
		var err error
		if files, err = authority.New(dir); err != nil {
			return nil, err
		}
		if s.client.TLS, err = files.Client(); err != nil {
			return nil, err
		}
		s.CAFile, s.CertFile, s.KeyFile = files.CA, files.ClientCert, files.ClientKey
	}
	if err := s.launch(ports.Draw, func(port int) []string { return opts.lines(port, files) }); err != nil {
		return nil, err
	}
	return s, nil
}

// drawAgain is how often a server gets another port because somebody was faster.
const drawAgain = 10

// launch starts the server with the configuration that lines makes for the port that draw returned.
func (s *Server) launch(draw func() (int, error), lines func(port int) []string) error {
	for tries := 1; ; tries++ {
		var err error
		if s.port, err = draw(); err != nil {
			return err
		}
		s.Addr = ports.Address(s.port)
		s.client.Addr = s.Addr
		conf := append([]string{"bind " + ports.Loopback, "dir " + strconv.Quote(s.dir)}, lines(s.port)...)
		if err := os.WriteFile(s.conf(), []byte(strings.Join(conf, "\n")+"\n"), 0o600); err != nil {
			return err
		}
		err = s.run()
		if err == nil || tries == drawAgain || !strings.Contains(s.logTail(), "Address already in use") {
			return err
		}
	}
}

func (s *Server) conf() string { return filepath.Join(s.dir, "redis.conf") }
func (s *Server) log() string  { return filepath.Join(s.dir, "redis.log") }

// run starts the process and returns when it answers.
func (s *Server) run() error {
	path, err := program()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(s.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		s.logged.Store(info.Size())
	}
	cmd := exec.Command(path, append([]string{s.conf()}, s.args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := process.Start(cmd)
	if err != nil {
		return err
	}
	s.process.Store(p)
	s.paused.Store(false)
	if err := s.WaitReady(); err != nil {
		p.Kill()
		return err
	}
	return nil
}

// WaitReady returns when the server answers PING, which it does not while it is loading its data.
func (s *Server) WaitReady() error {
	p := s.process.Load()
	err := poll.Until("PING "+s.Addr, func() error {
		if !p.Running() {
			return poll.Final(fmt.Errorf("%w: %s: %w", ErrEnded, s.Addr, p.Err()))
		}
		if _, err := s.Do("PING"); err != nil {
			return err
		}
		// Somebody else's server may have been faster to take the port; then ours is about to end.
		pid, err := s.field("process_id", "INFO", "server")
		if err == nil && pid != strconv.Itoa(p.Pid()) {
			err = fmt.Errorf("process %s answers instead of %d", pid, p.Pid())
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w\nits log ends:\n%s", err, s.logTail())
	}
	return nil
}

// logTail is the end of what the server has said since its latest start.
func (s *Server) logTail() string {
	const lines = 20
	text, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	said := strings.Split(strings.TrimSpace(string(text[min(int(s.logged.Load()), len(text)):])), "\n")
	return strings.Join(said[max(0, len(said)-lines):], "\n")
}
