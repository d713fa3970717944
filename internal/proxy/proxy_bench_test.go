package proxy

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// instant is an upstream without a network.
type instant struct{}

func (instant) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: http.NoBody, Request: r}, nil
}

// unread is a response that nobody reads.
type unread struct{ header http.Header }

func (u unread) Header() http.Header         { return u.header }
func (u unread) Write(p []byte) (int, error) { return len(p), nil }
func (u unread) WriteHeader(int)             {}

// BenchmarkRequest is what a request costs in the proxy itself, beside a bare reverse proxy. docs/proxy.md has the
// figures over the network.
func BenchmarkRequest(b *testing.B) {
	upstream := &url.URL{Scheme: "http", Host: "upstream.example"}
	bench := func(name string, handler http.Handler) {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/", nil)
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(unread{http.Header{}}, r)
			}
		})
	}
	bench("bare", &httputil.ReverseProxy{Transport: instant{}, BufferPool: &buffers{}, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(upstream)
		r.SetXForwarded()
	}})
	for _, c := range []struct {
		name string
		opts Options
	}{
		{"no limit", Options{}},
		{"one limit", Options{Limits: limits("10000000/s")}},
		{"two limits", Options{Limits: limits("10000000/s", "1000000000/h")}},
		{"one limit and log", Options{Limits: limits("10000000/s"), AccessLog: io.Discard}},
	} {
		c.opts.Upstream, c.opts.Logger = upstream, slog.New(slog.DiscardHandler)
		p, err := New(c.opts)
		if err != nil {
			b.Fatal(err)
		}
		p.forward.reverse.Transport = instant{}
		bench(c.name, p)
		if refused := p.Counts().Refused; refused != 0 {
			b.Fatalf("%d were refused", refused)
		}
		p.Close()
	}
}
