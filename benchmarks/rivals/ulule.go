package rivals

import (
	"context"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
)

// ululeLimiter counts in windows of an hour that begin with the first request of a key. Refused requests count.
type ululeLimiter struct{ limiter *limiter.Limiter }

func newUlule(n int) Limiter {
	return ululeLimiter{limiter.New(memory.NewStore(), limiter.Rate{Period: time.Hour, Limit: int64(n)})}
}

func (l ululeLimiter) Allow(key string) bool {
	c, err := l.limiter.Get(context.Background(), key)
	return err == nil && !c.Reached
}

// Close has nothing to call: the store's goroutine ends when the collector finds the store unused.
func (l ululeLimiter) Close() {}
