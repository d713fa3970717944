package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestDrainLetsRequestsFinish(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	g := serveTo(t, func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-finish
		io.WriteString(w, "finished")
	}, Options{Limits: limits("100/h")})
	idle, idleAnswers := g.dial("")
	_, answers := g.dial("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	received(t, "the request reaches the upstream", began)

	g.stop()
	eventually(t, "new connections are refused", func() bool {
		conn, err := net.Dial("tcp", g.addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	select {
	case err := <-g.served:
		t.Fatalf("Serve returned %v with a request under way", err)
	default:
	}
	close(finish)
	res, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "finished" || !res.Close {
		t.Errorf("body %q, %v, close %v; want the whole answer and no more on this connection", body, err, res.Close)
	}
	idle.Close()
	_, _ = idleAnswers.ReadByte()
	if err := g.ended(); err != nil {
		t.Errorf("Serve: %v, want nil after a drain", err)
	}
}

func TestDrainWaitsForUpgradedConnections(t *testing.T) {
	g := serveTo(t, upgrading, Options{})
	conn, answers := g.dial(upgrade)
	readHead(t, answers)
	g.stop()
	eventually(t, "the listener is closed", func() bool { return !listening(g.addr) })
	exchange(t, conn, answers, "still there")
	conn.Close()
	if err := g.ended(); err != nil {
		t.Errorf("Serve: %v, want nil after a drain", err)
	}
}

func TestDrainCutsWhatDoesNotEnd(t *testing.T) {
	began := make(chan struct{}, 1)
	g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			upgrading(w, r)
			return
		}
		began <- struct{}{}
		<-r.Context().Done()
	}, Options{Drain: 50 * time.Millisecond})
	_, upgraded := g.dial(upgrade)
	readHead(t, upgraded)
	_, waiting := g.dial("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	received(t, "the request reaches the upstream", began)

	g.stop()
	if err := g.ended(); err != nil {
		t.Errorf("Serve: %v, want nil after a drain", err)
	}
	if _, err := upgraded.ReadByte(); err == nil {
		t.Error("the upgraded connection is open after the drain")
	}
	if head := readHead(t, waiting); !strings.HasPrefix(head, "HTTP/1.1 503") {
		t.Errorf("the request that was cut got %q, want 503", head)
	}
	if !strings.Contains(g.logs.String(), "cut=2") {
		t.Errorf("the log does not say that 2 were cut:\n%s", g.logs)
	}
	if c := g.proxy.Counts(); c.Active != 0 || c.UpstreamErrors != 0 {
		t.Errorf("Counts() = %+v, want nothing active and no upstream error", c)
	}
}

func TestNoDrainCutsAtOnce(t *testing.T) {
	g := serveTo(t, upgrading, Options{Drain: -1})
	_, answers := g.dial(upgrade)
	readHead(t, answers)
	g.stop()
	if err := g.ended(); err != nil {
		t.Errorf("Serve: %v, want nil", err)
	}
}

// listening says whether addr accepts connections.
func listening(addr string) bool {
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func TestSlowHeaderIsCut(t *testing.T) {
	g := serveTo(t, hello, Options{ReadHeaderTimeout: 50 * time.Millisecond})
	conn, answers := g.dial("GET / HTTP/1.1\r\nHost: a\r\n")
	stop := make(chan struct{})
	defer close(stop)
	go func() { // a byte now and then keeps nothing alive
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				io.WriteString(conn, "X")
			case <-stop:
				return
			}
		}
	}()
	readToEnd(t, answers)
	if c := g.proxy.Counts(); c.Allowed != 0 {
		t.Errorf("Counts() = %+v, want no request", c)
	}
}

func TestIdleConnectionIsClosed(t *testing.T) {
	g := serveTo(t, hello, Options{IdleTimeout: 50 * time.Millisecond})
	_, answers := g.dial("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	readToEnd(t, answers)
}

// readToEnd reads until the other side closes, before the connection's deadline.
func readToEnd(t *testing.T, r *bufio.Reader) {
	t.Helper()
	_, err := io.Copy(io.Discard, r)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		t.Error("the connection was never closed")
	}
}

func TestSlowBodyIsNotCut(t *testing.T) {
	got := make(chan string, 1)
	g := serveTo(t, func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		got <- string(b)
		if err != nil {
			panic(err)
		}
	}, Options{ReadHeaderTimeout: 20 * time.Millisecond, IdleTimeout: 20 * time.Millisecond})
	conn, answers := g.dial("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 10 {
		<-tick.C
		io.WriteString(conn, "x")
	}
	if got := received(t, "the body arrives", got); got != "xxxxxxxxxx" {
		t.Errorf("the body is %q, want ten x", got)
	}
	if head := readHead(t, answers); !strings.HasPrefix(head, "HTTP/1.1 200") {
		t.Errorf("the answer is %q, want 200", head)
	}
}

func TestBodyThatNobodyReadsIsCut(t *testing.T) {
	g := serveTo(t, hello, Options{Limits: limits("1/h"), BodyGrace: 50 * time.Millisecond})
	g.get("/")
	_, answers := g.dial("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
	if head := readHead(t, answers); !strings.HasPrefix(head, "HTTP/1.1 429") {
		t.Errorf("the answer is %q, want 429", head)
	}
	readToEnd(t, answers)
}

// TestRestOfABodyIsNoRequest is about connections that a proxy in front shares between clients.
func TestRestOfABodyIsNoRequest(t *testing.T) {
	for _, limit := range []string{"1/h", "100/h"} { // refused by the limit, and answered early by the upstream
		t.Run(limit, func(t *testing.T) {
			var smuggled atomic.Bool
			g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/smuggled" {
					smuggled.Store(true)
				}
				if r.Method == "POST" { // answers without reading
					http.NewResponseController(w).EnableFullDuplex()
					w.Header().Set("Connection", "close")
				}
			}, Options{Limits: limits(limit), BodyGrace: 50 * time.Millisecond})
			g.get("/")
			conn, answers := g.dial("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
			if head := readHead(t, answers); !strings.Contains(head, "Connection: close") {
				t.Errorf("the answer is %q, want the last on its connection", head)
			}
			before := g.proxy.Counts()
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for range 10 { // across the end of the grace
				io.WriteString(conn, "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
				<-tick.C
			}
			readToEnd(t, answers)
			if after := g.proxy.Counts(); smuggled.Load() || after.Allowed+after.Refused != before.Allowed+before.Refused {
				t.Errorf("a part of the body was taken for a request: %+v", after)
			}
		})
	}
}

func TestConnectionIsUsedAgainAfterABody(t *testing.T) {
	g := serveTo(t, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }, Options{Limits: limits("1/h"), BodyGrace: 50 * time.Millisecond})
	conn, answers := g.dial("")
	for _, want := range []string{"HTTP/1.1 200", "HTTP/1.1 429", "HTTP/1.1 429"} {
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		if got := fmt.Sprintf("HTTP/1.1 %d", res.StatusCode); got != want || res.Close {
			t.Errorf("%s, close %v; want %s and the connection kept", got, res.Close, want)
		}
		<-time.After(60 * time.Millisecond) // longer than the grace, which must not outlive the request
	}
}

func TestHugeHeaderIsRefused(t *testing.T) {
	g := serveTo(t, hello, Options{})
	conn, answers := g.dial("GET / HTTP/1.1\r\nHost: a\r\n")
	go io.WriteString(conn, "X: "+strings.Repeat("x", 80<<10)+"\r\n\r\n")
	if head := readHead(t, answers); !strings.HasPrefix(head, "HTTP/1.1 431") {
		t.Errorf("the answer is %q, want 431", head)
	}
}

func TestListenerThatFails(t *testing.T) {
	g := serveTo(t, hello, Options{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := g.proxy.Serve(t.Context(), ln); err == nil || !strings.HasPrefix(err.Error(), "proxy: serve on 127.0.0.1:") {
		t.Errorf("Serve on a closed listener: %v", err)
	}
}
