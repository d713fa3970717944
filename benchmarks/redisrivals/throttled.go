package redisrivals

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
)

// throttledLimiter reads the key, decides in the client and writes by compare-and-swap: two trips, and more when others
// ask for the key meanwhile. After ten attempts it gives up, which is its default.
type throttledLimiter struct {
	client  *redis.Client
	limiter *throttled.GCRARateLimiterCtx
}

func newThrottled(address string, callers int, limits []Limit) (Limiter, error) {
	client := newGoRedis(address, callers)
	store, err := goredisstore.NewCtx(client, "")
	if err != nil {
		client.Close()
		return nil, err
	}
	rate := throttled.PerDuration(limits[0].Count, limits[0].Period)
	limiter, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{MaxRate: rate, MaxBurst: limits[0].Count - 1})
	if err != nil {
		client.Close()
		return nil, err
	}
	return throttledLimiter{client, limiter}, nil
}

func (l throttledLimiter) Allow(key string) (bool, error) {
	limited, _, err := l.limiter.RateLimitCtx(context.Background(), key, 1)
	if err != nil && strings.HasPrefix(err.Error(), "Failed to store updated rate limit data") {
		return false, ErrGaveUp
	}
	return err == nil && !limited, err
}

func (l throttledLimiter) Close() { l.client.Close() }
