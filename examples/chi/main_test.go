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
		method, path string
		status       int
		policies     string
	}{
		{"POST", "/login", 200, `"all";q=40;w=2, "login";q=2;w=60`},
		{"POST", "/login", 200, `"all";q=40;w=2, "login";q=2;w=60`},
		{"POST", "/login", 429, `"all";q=40;w=2, "login";q=2;w=60`},
		{"GET", "/", 200, `"all";q=40;w=2`},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(s.method, s.path, nil))
		if got := w.Header().Get("RateLimit-Policy"); w.Code != s.status || got != s.policies {
			t.Errorf("request %d, %s %s: status %d, policies %s; want %d, %s", i, s.method, s.path, w.Code, got, s.status, s.policies)
		}
	}
}
