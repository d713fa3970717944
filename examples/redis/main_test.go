package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weirhq/weir/memstore"
	"github.com/weirhq/weir/redisstore"
)

// statuses sends n requests.
func statuses(h http.Handler, n int) (allowed, refused, other int) {
	for range n {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		switch w.Code {
		case http.StatusOK:
			allowed++
		case http.StatusTooManyRequests:
			refused++
		default:
			other++
		}
	}
	return allowed, refused, other
}

// TestHandler: processes with one store share the limit.
func TestHandler(t *testing.T) {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	one, two := handler(store), handler(store)
	if allowed, _, _ := statuses(one, 4); allowed != 4 {
		t.Errorf("the first process allows %d of 4, want 4", allowed)
	}
	if allowed, refused, _ := statuses(two, 8); allowed != 6 || refused != 2 {
		t.Errorf("the second process then allows %d and refuses %d of 8, want 6 and 2", allowed, refused)
	}
}

// TestWithoutRedis: each process limits to its share.
func TestWithoutRedis(t *testing.T) {
	store, err := redisstore.Open("redis://127.0.0.1:1", redisstore.Options{Processes: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if allowed, refused, other := statuses(handler(store), 8); allowed != 5 || refused != 3 || other != 0 {
		t.Errorf("without Redis %d are allowed and %d refused of 8, want 5 and 3", allowed, refused)
	}
}

func TestServeStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := serve(ctx, "127.0.0.1:0", "redis://127.0.0.1:1"); err != nil {
		t.Errorf("serve ends with %v, want nil", err)
	}
	if err := serve(ctx, "127.0.0.1:0", "localhost"); err == nil {
		t.Error("serve takes what is no URL")
	}
}
