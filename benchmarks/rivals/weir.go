package rivals

import (
	"context"
	"fmt"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
)

type weirLimiter struct {
	store   *memstore.Store
	limiter *weir.Limiter
}

func newWeir(n int) Limiter { return weirWith(fmt.Sprintf("%d/h", n)) }

// newWeirThree adds two limits that no workload reaches.
func newWeirThree(n int) Limiter { return weirWith(fmt.Sprintf("%d/h", n), "1000/d", "5000/w") }

func weirWith(limits ...string) Limiter {
	store := memstore.MustNew(memstore.Options{})
	return weirLimiter{store, weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits(limits...)})}
}

func (l weirLimiter) Allow(key string) bool {
	d, err := l.limiter.Allow(context.Background(), key)
	return err == nil && d.Allowed
}

func (l weirLimiter) Close() { l.store.Close() }
