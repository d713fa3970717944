package httplimit_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/weirhq/weir/httplimit"
)

// limitOf returns a middleware with one policy for everybody.
func limitOf(t testing.TB, name, limit string) func(http.Handler) http.Handler {
	return httplimit.MustNew(policies(httplimit.Policy{Name: name, Limiter: newLimiter(t, limit), Key: everybody}))
}

// routers are the same routes: all of them under a limit of 4, /strict under another of 1 as well.
var routers = []struct {
	name string
	make func(all, strict func(http.Handler) http.Handler) http.Handler
}{
	{"net/http", func(all, strict func(http.Handler) http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /open", serve)
		mux.Handle("GET /strict", strict(http.HandlerFunc(serve)))
		return all(mux)
	}},
	{"chi", func(all, strict func(http.Handler) http.Handler) http.Handler {
		r := chi.NewRouter()
		r.Use(all)
		r.Get("/open", serve)
		r.With(strict).Get("/strict", serve)
		return r
	}},
}

func TestRouters(t *testing.T) {
	for _, router := range routers {
		t.Run(router.name, func(t *testing.T) {
			h := router.make(limitOf(t, "all", "4/h"), limitOf(t, "strict", "1/h"))
			steps := []struct {
				path   string
				status int
				limits string // the names in RateLimit
			}{
				{"/strict", 200, "all strict"},
				{"/strict", 429, "all strict"},
				{"/open", 200, "all"},
				{"/nothing", 404, "all"},
				{"/open", 429, "all"},
				{"/strict", 429, "all"},
			}
			for i, s := range steps {
				w := send(h, request("GET", s.path))
				var names []string
				for _, m := range strings.Split(w.Header().Get("RateLimit"), ", ") {
					name, _, _ := strings.Cut(m, ";")
					names = append(names, strings.Trim(name, `"`))
				}
				if got := strings.Join(names, " "); w.Code != s.status || got != s.limits {
					t.Errorf("request %d, GET %s: status %d, limits %s; want %d, %s", i, s.path, w.Code, got, s.status, s.limits)
				}
			}
		})
	}
}

// Under chi the key can be a route's parameter where the middleware runs after routing.
func TestChiParameter(t *testing.T) {
	r := chi.NewRouter()
	limit := httplimit.MustNew(policies(httplimit.Policy{Limiter: newLimiter(t, "1/h"),
		Key: httplimit.KeyFunc("team", func(r *http.Request) (string, error) { return chi.URLParam(r, "team"), nil })}))
	r.With(limit).Get("/teams/{team}/members", serve)
	for _, s := range []struct {
		path   string
		status int
	}{{"/teams/a/members", 200}, {"/teams/b/members", 200}, {"/teams/a/members", 429}} {
		if got := send(r, request("GET", s.path)).Code; got != s.status {
			t.Errorf("GET %s = %d, want %d", s.path, got, s.status)
		}
	}
}

// serverOf starts a server whose handler is behind a limit of 3.
func serverOf(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(limitOf(t, "default", "3/h anchored")(handler))
	t.Cleanup(server.Close)
	return server
}

// wantRemaining checks that the response carries the limit with 2 remaining.
func wantRemaining(t *testing.T, resp *http.Response) {
	t.Helper()
	if got := resp.Header.Get("RateLimit"); !strings.HasPrefix(got, `"default";r=2;t=`) {
		t.Errorf("RateLimit = %q, want 2 remaining", got)
	}
}

// A stream carries the headers with its first line, and comes line by line.
func TestStream(t *testing.T) {
	more := make(chan bool)
	server := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "one")
		w.(http.Flusher).Flush()
		<-more
		fmt.Fprintln(w, "two")
	})
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	wantRemaining(t, resp)
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); line != "one\n" {
		t.Errorf("first line %q, %v; want one", line, err)
	}
	close(more)
	if line, err := lines.ReadString('\n'); line != "two\n" {
		t.Errorf("second line %q, %v; want two", line, err)
	}
}

// An upgrade carries the headers, and the handler takes over the connection.
func TestUpgrade(t *testing.T) {
	server := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "echo")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Errorf("Hijack = %v", err)
			return
		}
		defer conn.Close()
		line, _ := rw.ReadString('\n')
		rw.WriteString(line)
		rw.Flush()
	})
	req, err := http.NewRequest("GET", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	wantRemaining(t, resp)
	conn := resp.Body.(io.ReadWriteCloser)
	defer conn.Close()
	fmt.Fprintln(conn, "ping")
	if echo, err := bufio.NewReader(conn).ReadString('\n'); resp.StatusCode != 101 || echo != "ping\n" {
		t.Errorf("upgrade: status %d, echo %q, %v; want 101, ping", resp.StatusCode, echo, err)
	}
}

// The server's way to copy files without copying is still there.
func TestReadFrom(t *testing.T) {
	server := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.(io.ReaderFrom).ReadFrom(strings.NewReader("copied"))
	})
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	wantRemaining(t, resp)
	if body, err := io.ReadAll(resp.Body); string(body) != "copied" {
		t.Errorf("body %q, %v; want copied", body, err)
	}
}
