package redisrivals

import (
	"context"

	"github.com/redis/go-redis/v9"
	"github.com/ulule/limiter/v3"
	store "github.com/ulule/limiter/v3/drivers/store/redis"
)

// ululeLimiter counts in windows that begin with the first request of a key. Refused requests count.
type ululeLimiter struct {
	client  *redis.Client
	limiter *limiter.Limiter
}

func newUlule(address string, callers int, limits []Limit) (Limiter, error) {
	client := newGoRedis(address, callers)
	s, err := store.NewStore(client)
	if err != nil {
		client.Close()
		return nil, err
	}
	rate := limiter.Rate{Period: limits[0].Period, Limit: int64(limits[0].Count)}
	return ululeLimiter{client, limiter.New(s, rate)}, nil
}

func (l ululeLimiter) Allow(key string) (bool, error) {
	c, err := l.limiter.Get(context.Background(), key)
	return err == nil && !c.Reached, err
}

func (l ululeLimiter) Close() { l.client.Close() }
