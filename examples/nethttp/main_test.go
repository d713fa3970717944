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
	for i := range 8 {
		want := 200
		if i >= 5 && i < 7 {
			want = 429
		}
		r := httptest.NewRequest("GET", "/", nil)
		if i == 7 {
			r.RemoteAddr = "198.51.100.9:4711" // another client
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want || w.Header().Get("RateLimit-Policy") != `"default";q=5;w=60` {
			t.Errorf("request %d: status %d, RateLimit-Policy %s; want %d", i, w.Code, w.Header().Get("RateLimit-Policy"), want)
		}
		if (w.Code == 429) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("request %d: status %d, Retry-After %q", i, w.Code, w.Header().Get("Retry-After"))
		}
	}
}
