package httplimit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

// everybody is a key that needs nothing of the request.
var everybody = httplimit.Global()

// newLimiter returns a limiter on a store of its own, which lives as long as the test.
func newLimiter(t testing.TB, limits ...string) *weir.Limiter {
	t.Helper()
	store := memstore.MustNew(memstore.Options{})
	t.Cleanup(func() { store.Close() })
	return weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits(limits...)})
}

// onStore returns a limiter over store, with a name of its own.
func onStore(store weir.Store, name string, limits ...string) *weir.Limiter {
	return weir.MustNew(store, weir.Options{Name: name, Limits: weir.MustParseLimits(limits...)})
}

// policies are options with nothing but policies, and a logger that keeps quiet.
func policies(p ...httplimit.Policy) httplimit.Options {
	return httplimit.Options{Policies: p, Logger: slog.New(slog.DiscardHandler)}
}

// build returns a handler behind a middleware, which answers 200 with "served".
func build(t testing.TB, opts httplimit.Options) http.Handler {
	t.Helper()
	limit, err := httplimit.New(opts)
	if err != nil {
		t.Fatalf("New(...) = %v, want no error", err)
	}
	return limit(http.HandlerFunc(serve))
}

func serve(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "served") }

// get sends a GET / with headers, given as "Name: value", and returns the response.
func get(h http.Handler, headers ...string) *httptest.ResponseRecorder {
	return send(h, request("GET", "/", headers...))
}

func request(method, target string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	return r
}

func send(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// text writes a response in full: status, headers by name, body.
func text(w *httptest.ResponseRecorder) string {
	var b strings.Builder
	fmt.Fprintln(&b, w.Code)
	var names []string
	for name := range w.Header() {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, line := range w.Header()[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, line)
		}
	}
	fmt.Fprintf(&b, "\n%s", w.Body)
	return b.String()
}

// statuses sends n requests and returns their statuses.
func statuses(h http.Handler, n int, headers ...string) []int {
	var got []int
	for range n {
		got = append(got, get(h, headers...).Code)
	}
	return got
}

func wantStatuses(t *testing.T, what string, got []int, want ...int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: statuses %v, want %v", what, got, want)
	}
}

// remaining asks the limiter how much key has left.
func remaining(t *testing.T, l *weir.Limiter, key string) int64 {
	t.Helper()
	d, err := l.Peek(context.Background(), key)
	if err != nil {
		t.Fatalf("Peek(%q) = %v", key, err)
	}
	return d.Remaining
}

// brokenStore cannot decide.
type brokenStore struct{ err error }

func (s brokenStore) Take(context.Context, *weir.Scope, string, int64) (weir.Results, error) {
	return weir.Results{}, s.err
}

// logTo returns a logger that writes lines without a time.
func logTo(b *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}
