package memstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir"
)

// benchKeys is the size of the key table of the benchmarks: as large as a busy service sees.
const benchKeys = 1 << 17

func benchLimiter(b *testing.B, limits ...string) (*weir.Limiter, []string) {
	b.Helper()
	store := MustNew(Options{})
	b.Cleanup(func() { store.Close() })
	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits(limits...)})
	keys := make([]string, benchKeys)
	for i := range keys {
		keys[i] = fmt.Sprintf("user:%d", i)
		limiter.Allow(b.Context(), keys[i])
	}
	if got := store.Len(); got != benchKeys*len(limits) {
		b.Fatalf("Len() = %d, want %d: the keys are not distinct", got, benchKeys*len(limits))
	}
	for range 1000 {
		limiter.Allow(b.Context(), keys[0])
	}
	if d, _ := limiter.Peek(b.Context(), keys[0]); d.Allowed {
		b.Fatalf("Peek(%q) = %+v after 1000 takes: the limit does not limit", keys[0], d)
	}
	return limiter, keys
}

func BenchmarkAllow(b *testing.B) {
	for _, limits := range [][]string{
		{"100/h"}, {"100/h stepwise"}, {"100/h fixed-window"}, {"100/d calendar Europe/Berlin"}, {"100/h sliding-window"},
		{"100/h sliding-log"}, {"100/h", "500/d", "1000/w"},
	} {
		b.Run(fmt.Sprint(limits), func(b *testing.B) {
			limiter, keys := benchLimiter(b, limits...)
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				limiter.Allow(context.Background(), keys[i*7919%benchKeys])
			}
		})
	}
}

func BenchmarkAllowParallel(b *testing.B) {
	limiter, keys := benchLimiter(b, "100/h")
	var seed atomic.Uint64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		r := rand.New(rand.NewPCG(seed.Add(1), 0))
		for pb.Next() {
			limiter.Allow(context.Background(), keys[r.Uint32()%benchKeys])
		}
	})
}

func BenchmarkAllowHotKey(b *testing.B) {
	limiter, keys := benchLimiter(b, "100/h")
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			limiter.Allow(context.Background(), keys[0])
		}
	})
}
