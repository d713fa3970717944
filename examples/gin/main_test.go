package main

import (
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/weirhq/weir/memstore"
)

func TestHandler(t *testing.T) {
	gin.SetMode(gin.TestMode)
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	h := handler(store)
	for i, s := range []struct {
		key    string
		status int
		body   string
	}{
		{"", 200, "hello\n"}, {"", 200, "hello\n"}, {"", 200, "hello\n"},
		{"", 429, `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,"violated-policies":["default"]}` + "\n"},
		{"k-1", 200, "hello\n"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if s.key != "" {
			r.Header.Set("X-API-Key", s.key)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != s.status || w.Body.String() != s.body {
			t.Errorf("request %d with the key %q: %d %q, want %d %q", i, s.key, w.Code, w.Body, s.status, s.body)
		}
	}
}
