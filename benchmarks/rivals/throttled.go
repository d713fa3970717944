package rivals

import (
	"context"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
)

type throttledLimiter struct{ limiter *throttled.GCRARateLimiterCtx }

// newThrottled takes the store without a bound: a map, which is faster than its LRU, and never forgets a key.
func newThrottled(n int) Limiter {
	store, err := memstore.NewCtx(0)
	if err != nil {
		panic(err)
	}
	quota := throttled.RateQuota{MaxRate: throttled.PerHour(n), MaxBurst: n - 1}
	limiter, err := throttled.NewGCRARateLimiterCtx(store, quota)
	if err != nil {
		panic(err)
	}
	return throttledLimiter{limiter}
}

func (l throttledLimiter) Allow(key string) bool {
	limited, _, err := l.limiter.RateLimitCtx(context.Background(), key, 1)
	return err == nil && !limited
}

func (l throttledLimiter) Close() {}
