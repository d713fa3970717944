package redisrivals

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a redis-server of our own. It keeps nothing on disk.
type Server struct {
	// Address is where it listens on the loopback interface.
	Address string

	process *exec.Cmd
	said    bytes.Buffer
	ended   chan struct{} // closed when the process has ended
	admin   *redis.Client
}

// StartServer starts a redis-server on a free port. It ends with Close, or when ctx does.
func StartServer(ctx context.Context) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &Server{Address: net.JoinHostPort("127.0.0.1", port), ended: make(chan struct{})}
	s.process = exec.CommandContext(ctx, "redis-server", "--bind", "127.0.0.1", "--port", port,
		"--save", "", "--appendonly", "no", "--dir", os.TempDir(), "--loglevel", "warning")
	s.process.Stdout, s.process.Stderr = &s.said, &s.said
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.process.Wait()
		close(s.ended)
	}()
	s.admin = redis.NewClient(&redis.Options{Addr: s.Address, PoolSize: 1, MaxRetries: -1})
	if err := s.wait(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("redis-server: %w\n%s", err, s.said.String())
	}
	return s, nil
}

// freePort asks the kernel for a port. Another program could take it before redis-server does; that then ends.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	return port, err
}

// wait returns when the server answers.
func (s *Server) wait(ctx context.Context) error {
	for deadline := time.Now().Add(10 * time.Second); ; {
		err := s.admin.Ping(ctx).Err()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-s.ended:
			return fmt.Errorf("ended with %v", s.process.ProcessState)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Close ends the server.
func (s *Server) Close() {
	s.admin.Close()
	s.process.Process.Kill()
	<-s.ended
}

// Flush forgets all keys, but no scripts.
func (s *Server) Flush() error { return s.admin.FlushAll(context.Background()).Err() }

// Keys returns how many keys the server has.
func (s *Server) Keys() (int, error) {
	n, err := s.admin.DBSize(context.Background()).Result()
	return int(n), err
}

// Version returns what the server calls itself.
func (s *Server) Version() (string, error) { return s.info("server", "redis_version") }

// CPU returns the processor time that the server has used, as the kernel counts it. It comes from INFO because that has
// microseconds, where /proc/PID/stat has hundredths of a second.
func (s *Server) CPU() (time.Duration, error) {
	total := 0.0
	for _, field := range []string{"used_cpu_sys", "used_cpu_user"} {
		text, err := s.info("cpu", field)
		if err != nil {
			return 0, err
		}
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, err
		}
		total += seconds
	}
	return time.Duration(total * float64(time.Second)), nil
}

func (s *Server) info(section, field string) (string, error) {
	text, err := s.admin.Info(context.Background(), section).Result()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == field {
			return value, nil
		}
	}
	return "", fmt.Errorf("redis-server: INFO %s has no %s", section, field)
}

// Pause stops the server where it stands; Resume lets it go on.
func (s *Server) Pause() error  { return s.process.Process.Signal(syscall.SIGSTOP) }
func (s *Server) Resume() error { return s.process.Process.Signal(syscall.SIGCONT) }
