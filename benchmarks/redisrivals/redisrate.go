package redisrivals

import (
	"context"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// redisRate asks once for each limit, one after the other. What the first ones took is not given back when a later one
// refuses.
type redisRate struct {
	client   *redis.Client
	limiter  *redis_rate.Limiter
	limits   []redis_rate.Limit
	suffixes []string
}

func newRedisRate(address string, callers int, limits []Limit) (Limiter, error) {
	client := newGoRedis(address, callers)
	l := &redisRate{client: client, limiter: redis_rate.NewLimiter(client), suffixes: keySuffixes(len(limits))}
	for _, limit := range limits {
		l.limits = append(l.limits, redis_rate.Limit{Rate: limit.Count, Burst: limit.Count, Period: limit.Period})
	}
	return l, nil
}

func (l *redisRate) Allow(key string) (bool, error) {
	for i, limit := range l.limits {
		result, err := l.limiter.Allow(context.Background(), key+l.suffixes[i], limit)
		if err != nil || result.Allowed == 0 {
			return false, err
		}
	}
	return true, nil
}

func (l *redisRate) Close() { l.client.Close() }
