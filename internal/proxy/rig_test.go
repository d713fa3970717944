package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirhq/weir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// rig is a proxy that serves on a port of its own.
type rig struct {
	t      *testing.T
	proxy  *Proxy
	addr   string
	url    string
	client *http.Client
	logs   *lockedBuffer
	stop   context.CancelFunc
	served chan error
}

// serve starts a proxy to upstream, which the test's end stops.
func serve(t *testing.T, upstream string, opts Options) *rig {
	t.Helper()
	var err error
	if opts.Upstream, err = url.Parse(upstream); err != nil {
		t.Fatal(err)
	}
	g := &rig{t: t, logs: &lockedBuffer{}, served: make(chan error, 1)}
	opts.Logger = slog.New(slog.NewTextHandler(g.logs, nil))
	if g.proxy, err = New(opts); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.addr = ln.Addr().String()
	g.url = "http://" + g.addr
	transport := &http.Transport{DisableCompression: true}
	g.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var ctx context.Context
	ctx, g.stop = context.WithCancel(context.Background())
	go func() { g.served <- g.proxy.Serve(ctx, ln) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		g.stop()
		<-g.served
		g.proxy.Close()
	})
	return g
}

// serveTo starts an upstream with handler too.
func serveTo(t *testing.T, handler http.HandlerFunc, opts Options) *rig {
	t.Helper()
	upstream := httptest.NewServer(handler)
	t.Cleanup(upstream.Close) // runs after the proxy has stopped
	return serve(t, upstream.URL, opts)
}

// ended waits for Serve to return, and lets the cleanup see it too.
func (g *rig) ended() error {
	g.t.Helper()
	select {
	case err := <-g.served:
		g.served <- err
		return err
	case <-time.After(patience):
		g.t.Fatal("Serve did not return")
		return nil
	}
}

// get sends a request with the header lines given as name, value.
func (g *rig) get(path string, header ...string) *http.Response {
	g.t.Helper()
	r, err := http.NewRequest(http.MethodGet, g.url+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return g.do(r)
}

// do sends r and returns the response with its body read.
func (g *rig) do(r *http.Request) *http.Response {
	g.t.Helper()
	res, err := g.client.Do(r)
	if err != nil {
		g.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		g.t.Fatalf("%s %s: body: %v", r.Method, r.URL, err)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res
}

// dial opens a connection to the proxy and sends text.
func (g *rig) dial(text string) (net.Conn, *bufio.Reader) {
	g.t.Helper()
	conn, err := net.Dial("tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		g.t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func bodyOf(res *http.Response) string {
	b, _ := io.ReadAll(res.Body)
	return string(b)
}

func limits(texts ...string) []weir.Limit { return weir.MustParseLimits(texts...) }

// eventually polls until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// received waits for a value.
func received[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("never: %s", what)
		panic("unreachable")
	}
}

// lockedBuffer is a buffer that one goroutine reads while others write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// statuses sends n requests and returns their statuses, such as "200 200 429".
func (g *rig) statuses(n int, header ...string) string {
	g.t.Helper()
	var got []string
	for range n {
		got = append(got, fmt.Sprint(g.get("/", header...).StatusCode))
	}
	return strings.Join(got, " ")
}
