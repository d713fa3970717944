package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/redistest"
)

// startProxy runs a proxy to an upstream that answers 200, until stop.
func startProxy(t *testing.T, args ...string) (url string, stderr *lockedBuffer, stop func() (status int)) {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ctx, cancel := context.WithCancel(context.Background())
	stderr = &lockedBuffer{}
	ended := make(chan int)
	go func() {
		ended <- run(ctx, append([]string{"proxy", "--to", upstream.URL, "--listen", "127.0.0.1:0"}, args...), io.Discard, stderr)
		close(ended)
	}()
	stop = func() int { cancel(); return <-ended }
	t.Cleanup(func() {
		stop()
		upstream.Close()
	})
	return listens(t, stderr), stderr, stop
}

func TestProxiesShareALimit(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Password: "secret"})
	args := []string{"--limit", "3/h fixed-window anchored", "--store", server.URL()}
	first, stderr, stop := startProxy(t, args...)
	second, _, _ := startProxy(t, args...)
	other, _, _ := startProxy(t, append(args, "--prefix", "other:")...)
	for i, step := range []struct {
		url  string
		want int
	}{{first, 200}, {second, 200}, {first, 200}, {second, 429}, {first, 429}, {other, 200}} {
		if got := get(t, step.url); got != step.want {
			t.Errorf("request %d: status %d, want %d", i, got, step.want)
		}
	}
	if got := stop(); got != 0 {
		t.Errorf("the proxy ends with %d, want 0", got)
	}
	if got, want := stderr.String(), "  state       in Redis at "+server.Addr+"; while it is away: local\n"; !strings.Contains(got, want) || strings.Contains(got, "warn") {
		t.Errorf("the proxy says\n%swant no warning, and\n%s", got, want)
	}
}

// TestProxyWithoutItsRedis: it starts all the same, says so, and the outage policy decides.
func TestProxyWithoutItsRedis(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	server.Kill()
	for _, c := range []struct {
		args []string
		want []int
	}{
		{nil, []int{200, 200, 200, 200, 429}},
		{[]string{"--processes", "2"}, []int{200, 200, 429, 429, 429}},
		{[]string{"--outage", "allow"}, []int{200, 200, 200, 200, 200}},
		{[]string{"--outage", "deny"}, []int{429, 429, 429, 429, 429}},
		{[]string{"--outage", "error"}, []int{503, 503, 503, 503, 503}},
	} {
		url, stderr, stop := startProxy(t, append(c.args, "--limit", "4/h fixed-window anchored", "--store", server.URL())...)
		for i, want := range c.want {
			if got := get(t, url); got != want {
				t.Errorf("%q: request %d: status %d, want %d", c.args, i, got, want)
			}
		}
		eventually(t, "it says that Redis is away", func() bool {
			return strings.Contains(stderr.String(), "warn: the Redis of --store does not answer as it should (error: ")
		})
		if got := stop(); got != 0 {
			t.Errorf("%q: the proxy ends with %d, want 0", c.args, got)
		}
	}
}
