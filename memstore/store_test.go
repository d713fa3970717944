package memstore_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
	"github.com/weirhq/weir/storetest"
)

// TestStore runs in bubbles, where days pass in which the store sweeps each second: it is small so that it has few
// shards to sweep.
func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
		synctest.Test(t, func(t *testing.T) {
			store := memstore.MustNew(memstore.Options{MaxKeys: 8192})
			defer store.Close()
			body(t, storetest.Rig{Store: store, Advance: time.Sleep, Now: time.Now})
		})
	})
}

// TestHammer asks for far more than there is, from many goroutines and in real time, in which next to nothing comes
// back: exactly the quota is admitted, and of several limits exactly the smallest.
func TestHammer(t *testing.T) {
	const callers, tries, quota = 64, 300, 5000
	for _, limits := range [][]weir.Limit{
		weir.MustParseLimits("1/h burst 5000"),
		weir.MustParseLimits("1/h burst 5000 stepwise"),
		weir.MustParseLimits("5000/870000h fixed-window"),
		weir.MustParseLimits("5000/30000h fixed-window anchored"),
		weir.MustParseLimits("5000/870000h sliding-window"),
		weir.MustParseLimits("5000/30000h sliding-log"),
		weir.MustParseLimits("1/h burst 5001", "5000/870000h fixed-window", "5002/870000h sliding-window"),
	} {
		t.Run(fmt.Sprint(limits), func(t *testing.T) {
			store := memstore.MustNew(memstore.Options{})
			defer store.Close()
			limiter := weir.MustNew(store, weir.Options{Limits: limits})
			var admitted atomic.Int64
			var done sync.WaitGroup
			for range callers {
				done.Go(func() {
					for range tries {
						d, err := limiter.Allow(t.Context(), "hot")
						if err != nil {
							t.Errorf("allow: error %v", err)
							return
						}
						if d.Allowed {
							admitted.Add(1)
						}
					}
				})
			}
			done.Wait()
			if got := admitted.Load(); got != quota {
				t.Errorf("%d callers with %d tries each by %v: got %d admitted, want %d", callers, tries, limits, got, quota)
			}
			d, err := limiter.PeekN(t.Context(), "hot", 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range d.Figures() {
				if used := f.Limit - f.Remaining; used != quota {
					t.Errorf("%v: got %d used of %d, want %d", limits, used, f.Limit, quota)
				}
			}
		})
	}
}

// TestNothingStays: once a subject is full again its entry leaves, under every kind of limit, and not before.
func TestNothingStays(t *testing.T) {
	for _, limit := range weir.MustParseLimits("10/m", "10/m stepwise", "10/m fixed-window", "10/m fixed-window anchored",
		"10/m sliding-window", "10/m sliding-log", "10/m leaky-bucket") {
		synctest.Test(t, func(t *testing.T) {
			store := memstore.MustNew(memstore.Options{MaxKeys: 1024})
			defer store.Close()
			limiter := weir.MustNew(store, weir.Options{Limits: []weir.Limit{limit}})
			d, err := limiter.AllowN(t.Context(), "key", 10)
			if err != nil || !d.Allowed {
				t.Fatalf("%v: take 10: got %+v, error %v", limit, d, err)
			}
			time.Sleep(d.ResetAfter - time.Microsecond)
			synctest.Wait()
			if got := store.Len(); got != 1 {
				t.Errorf("%v: a microsecond before %v: got %d entries, want 1", limit, d.ResetAfter, got)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := store.Len(); got != 0 {
				t.Errorf("%v: two seconds after %v: got %d entries, want 0", limit, d.ResetAfter, got)
			}
		})
	}
}
