package redisstore

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/storetest"
)

// TestMain sees to it that no goroutine stays. rueidis keeps some asleep for up to five seconds after the end of a
// cluster's client.
func TestMain(m *testing.M) {
	code := m.Run()
	var left error
	for begun := time.Now(); code == 0 && time.Since(begun) < 8*time.Second; {
		if left = goleak.Find(); left == nil {
			os.Exit(0)
		}
	}
	if left != nil {
		fmt.Fprintln(os.Stderr, "goroutines are left:", left)
		code = 1
	}
	os.Exit(code)
}

// prefixes gives every store a namespace of its own, so that servers need not be emptied.
var prefixes atomic.Int64

// open returns a store that ends with the test. It has long enough to answer for a loaded machine, and says when it
// cannot.
func open(t testing.TB, url string, change func(*Options)) *Store {
	t.Helper()
	opts := Options{Prefix: fmt.Sprintf("test%d:", prefixes.Add(1)), Timeout: 10 * time.Second, Outage: OutageError, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&opts)
	}
	store, err := Open(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

// virtual gives the store a time that stands still until it is moved.
func virtual(store *Store) storetest.Rig {
	var now atomic.Int64
	now.Store(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	store.clock = func() (string, int64) { return strconv.FormatInt(now.Load(), 10), now.Load() }
	return storetest.Rig{
		Store:   store,
		Advance: func(d time.Duration) { now.Add(d.Microseconds()) },
		Now:     func() time.Time { return time.UnixMicro(now.Load()) },
	}
}

// limiterOf returns a limiter over store.
func limiterOf(store weir.Store, limits ...string) *weir.Limiter {
	return weir.MustNew(store, weir.Options{Name: "test", Limits: weir.MustParseLimits(limits...)})
}

// do sends a command to a server, which must accept it.
func do(t testing.TB, server *redistest.Server, args ...any) any {
	t.Helper()
	reply, err := server.Do(args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return reply
}

// within returns a context that ends with the test, and after d at the latest.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
