package main

import (
	"net/http/httptest"
	"testing"

	"github.com/weirhq/weir/memstore"
)

func TestHandler(t *testing.T) {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	h := handler(store)
	for i, s := range []struct {
		forwarded string
		status    int
	}{
		{"203.0.113.7", 200},
		{"6.6.6.1, 203.0.113.7", 200}, // what the client claims does not make it another
		{"6.6.6.2, 203.0.113.7", 429},
		{"203.0.113.8", 200},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "10.0.0.1:4711"
		r.Header.Set("X-Forwarded-For", s.forwarded)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != s.status {
			t.Errorf("request %d for %s: status %d, want %d", i, s.forwarded, w.Code, s.status)
		}
		if got, want := w.Header().Get("RateLimit-Policy"), `"default.s";q=2;w=1, "default.h";q=100;w=3600`; got != want {
			t.Errorf("request %d: RateLimit-Policy %s, want %s", i, got, want)
		}
	}
}
