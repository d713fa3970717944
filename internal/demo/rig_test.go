package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir"
)

// visitor calls a server without a network.
type visitor struct {
	t      testing.TB
	server *Server
}

func newVisitor(t testing.TB) visitor {
	t.Helper()
	return newVisitorOf(t, nil)
}

func newVisitorOf(t testing.TB, store weir.Store) visitor {
	t.Helper()
	s, err := New(Options{Store: store})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return visitor{t, s}
}

// do sends a request with headers given as "Name: value".
func (v visitor) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	v.server.ServeHTTP(w, r)
	return w
}

func (v visitor) test() *httptest.ResponseRecorder { return v.do("POST", "/test", "") }

// take sends n requests and returns how many were allowed.
func (v visitor) take(n int) (allowed int) {
	v.t.Helper()
	for range n {
		switch w := v.test(); w.Code {
		case http.StatusOK:
			allowed++
		case http.StatusTooManyRequests:
		default:
			v.t.Fatalf("POST /test = %d %s", w.Code, w.Body)
		}
	}
	return allowed
}

const formType = "Content-Type: application/x-www-form-urlencoded"

func (v visitor) post(form string) *httptest.ResponseRecorder {
	return v.do("POST", "/config", form, formType)
}

// configure changes the limit, which must succeed.
func (v visitor) configure(form string) {
	v.t.Helper()
	if w := v.post(form); w.Code != http.StatusOK {
		v.t.Fatalf("POST /config %s = %d %s", form, w.Code, w.Body)
	}
}

// state returns what GET /state answers. Its numbers are as they are written.
func (v visitor) state() map[string]any {
	v.t.Helper()
	w := v.do("GET", "/state", "")
	if w.Code != http.StatusOK {
		v.t.Fatalf("GET /state = %d %s", w.Code, w.Body)
	}
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	var state map[string]any
	if err := d.Decode(&state); err != nil {
		v.t.Fatalf("GET /state: %v", err)
	}
	return state
}

// wantState checks fields of the state, given as "name=value".
func (v visitor) wantState(when string, fields ...string) {
	v.t.Helper()
	state := v.state()
	for _, f := range fields {
		name, want, _ := strings.Cut(f, "=")
		if got := fmt.Sprint(state[name]); got != want {
			v.t.Errorf("%s: GET /state has %s %s, want %s", when, name, got, want)
		}
	}
}

func wantBody(t *testing.T, what string, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if got := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != status || got != body {
		t.Errorf("%s = %d %s\nwant %d %s", what, w.Code, got, status, body)
	}
}
