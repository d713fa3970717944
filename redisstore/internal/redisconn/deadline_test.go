package redisconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// wantOverdue wants a call that has ended with its context.
func wantOverdue(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("got %v, want the deadline", err)
	}
	return nil
}

// wantUnsent wants a call of which nothing was sent.
func wantUnsent(err error) error {
	if _, ok := errors.AsType[*ConnectError](err); !ok {
		return fmt.Errorf("got %v, want a ConnectError", err)
	}
	return nil
}

// TestNobodyListens: calls get the error of an attempt, at once.
func TestNobodyListens(t *testing.T) {
	c := open(t, "redis://127.0.0.1:1", Settings{})
	begun := time.Now()
	crowd(t, c, 100, 10*time.Second, func(err error) error {
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("got %v, want that the connection is refused", err)
		}
		return wantUnsent(err)
	})
	if took := time.Since(begun); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestNobodyAnswers: whatever keeps a connection from being made, calls end in time, and nothing was sent.
func TestNobodyAnswers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, addr := range map[string]string{
		"connections are never accepted": fullListener(t),
		"HELLO is never answered":        silent.Addr().String(),
		"names are never found":          unknownName,
	} {
		for _, scheme := range []string{"redis://", "rediss://", "redis-cluster://", "redis-sentinel://"} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				url := scheme + addr
				if scheme == "redis-sentinel://" {
					url += "/mymaster"
				}
				c := open(t, url, Settings{})
				for range 2 {
					crowd(t, c, 100, 50*time.Millisecond, func(err error) error { return errors.Join(wantOverdue(err), wantUnsent(err)) })
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(20*time.Millisecond, cancel)
				begun := time.Now()
				if err := c.Eval(ctx, count, []string{"k"}, nil, new(script.Reply)); !errors.Is(err, context.Canceled) || time.Since(begun) > 20*time.Millisecond+slack {
					t.Errorf("a call that is cancelled after 20 ms: %v after %v", err, time.Since(begun))
				}
			})
		}
	}
}

// TestAttemptsTimeOut: without a deadline of its own, a call gets the error of the attempt, which has one.
func TestAttemptsTimeOut(t *testing.T) {
	c := open(t, "redis://"+fullListener(t), Settings{ConnectTimeout: 50 * time.Millisecond})
	err := c.Eval(t.Context(), count, []string{"k"}, nil, new(script.Reply))
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() || wantUnsent(err) != nil {
		t.Errorf("got %v", err)
	}
}

// fullListener returns an address that connections to which hang.
func fullListener(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 10 {
		c, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { c.Close() })
	}
	if os.Getenv("CI") != "" {
		t.Fatal("this system accepts connections that nobody takes, and in CI nothing is skipped")
	}
	t.Skip("this system accepts connections that nobody takes")
	return ""
}

// unknownName is an address whose lookup hangs.
const unknownName = "redis.example:6379"

// hangingResolver never answers. The other names in these tests are numbers.
var hangingResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}}

// patient makes a call with a long deadline and reports how it ends.
func patient(r runner, key string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := within(redistest.Patience, r, count, key)
		done <- err
	}()
	return done
}

// TestServerStops: a server that is stopped keeps calls no longer than their deadlines, not those that wait longer from
// their answers, and everything works within a second of its return.
func TestServerStops(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	for name, prepare := range map[string]func(c *Conn){
		"when connected": func(c *Conn) {
			eventually(t, time.Second, func() error { _, err := within(time.Second, c, count, "k"); return err })
		},
		"before it connects": func(*Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "when connected" {
				must(t, server.Pause())
			}
			c := open(t, server.URL(), Settings{Timeout: redistest.Patience})
			prepare(c)
			if name == "when connected" {
				must(t, server.Pause())
			}
			long := patient(c, "patient")
			for range 4 {
				crowd(t, c, 100, 50*time.Millisecond, wantOverdue)
			}
			must(t, server.Resume())
			took := eventually(t, time.Second, func() error { _, err := within(50*time.Millisecond, c, count, "k"); return err })
			t.Logf("it works %v after the return", took)
			if err := <-long; err != nil {
				t.Errorf("the call that waited longer: %v", err)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestLine: the same with a line that hangs or is cut.
func TestLine(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	link := redistest.Proxy(t, server.Addr)
	c := open(t, "redis://"+link.Addr, Settings{})
	if _, err := within(time.Second, c, count, "k"); err != nil {
		t.Fatal(err)
	}
	link.Hang()
	for range 4 {
		crowd(t, c, 100, 50*time.Millisecond, wantOverdue)
	}
	link.Heal()
	took := eventually(t, time.Second, func() error { _, err := within(50*time.Millisecond, c, count, "k"); return err })
	t.Logf("it works %v after the line hung", took)
	link.Cut()
	for range 4 {
		crowd(t, c, 100, 50*time.Millisecond, wantUnsent)
	}
	link.Heal()
	took = eventually(t, time.Second, func() error { _, err := within(50*time.Millisecond, c, count, "k"); return err })
	t.Logf("it works %v after the line was cut", took)
}

// TestSlowConnecting: a handshake that takes longer than a call may take is finished nevertheless, once.
func TestSlowConnecting(t *testing.T) {
	server := redistest.Start(t, redistest.Options{TLS: true})
	link := redistest.Proxy(t, server.Addr)
	link.Latency(40 * time.Millisecond)
	c := open(t, "rediss://"+link.Addr+"?tls_ca="+server.CAFile, Settings{})
	took := eventually(t, redistest.Patience, func() error { _, err := within(60*time.Millisecond, c, count, "k"); return err })
	t.Logf("it works after %v", took)
}

// TestCancelled: a call without a deadline ends when its context is cancelled.
func TestCancelled(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	c := open(t, server.URL(), Settings{})
	if _, err := within(time.Second, c, count, "k"); err != nil {
		t.Fatal(err)
	}
	must(t, server.Pause())
	defer server.Resume()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	begun := time.Now()
	err := c.Eval(ctx, count, []string{"k"}, nil, new(script.Reply))
	if took := time.Since(begun); !errors.Is(err, context.Canceled) || took > 20*time.Millisecond+slack {
		t.Errorf("got %v after %v", err, took)
	}
	if err := c.Eval(ctx, count, []string{"k"}, nil, new(script.Reply)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestClose: calls in every state end with Close, and those after it at once.
func TestClose(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	must(t, server.Pause())
	defer server.Resume()
	silent := open(t, server.URL(), Settings{})
	must(t, server.Resume())
	connected := open(t, server.URL(), Settings{Timeout: redistest.Patience})
	if _, err := within(time.Second, connected, count, "k"); err != nil {
		t.Fatal(err)
	}
	must(t, server.Pause())
	for name, c := range map[string]*Conn{
		"connecting": silent,
		"connected":  connected,
		"dialling":   open(t, "redis://"+fullListener(t), Settings{}),
		"cluster":    open(t, "redis-cluster://"+server.Addr, Settings{}),
		"sentinel":   open(t, "redis-sentinel://"+server.Addr+"/m", Settings{}),
	} {
		var callers sync.WaitGroup
		for i := range 30 {
			callers.Go(func() {
				d := redistest.Patience
				if i%2 == 0 {
					d = soon
				}
				if _, err := within(d, c, count, "k"); !errors.Is(err, ErrClosed) && wantOverdue(err) != nil {
					t.Errorf("%s: a call under way: %v", name, err)
				}
			})
		}
		time.Sleep(30 * time.Millisecond)
		begun := time.Now()
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
		callers.Wait()
		if took := time.Since(begun); took > grace+slack {
			t.Errorf("%s: Close and the calls took %v", name, took)
		}
		if _, err := within(time.Second, c, count, "k"); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: after Close: %v", name, err)
		}
		c.Rediscover()
	}
}
