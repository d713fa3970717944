package redisrivals

import (
	"context"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore"
)

// weirLimiter decides all limits in one trip, over connections of its own, with the defaults but for the outage: what
// Redis has not decided is an error here.
type weirLimiter struct {
	store   *redisstore.Store
	limiter *weir.Limiter
}

func newWeir(address string, _ int, limits []Limit) (Limiter, error) {
	store, err := redisstore.Open("redis://"+address+"/0", redisstore.Options{
		Outage: redisstore.OutageError, Timeout: 200 * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	var buckets []weir.Limit
	for _, l := range limits {
		buckets = append(buckets, weir.TokenBucket{Capacity: int64(l.Count), Refill: int64(l.Count), Interval: l.Period})
	}
	limiter, err := weir.New(store, weir.Options{Limits: buckets})
	if err != nil {
		store.Close()
		return nil, err
	}
	return &weirLimiter{store, limiter}, nil
}

func (l *weirLimiter) Allow(key string) (bool, error) {
	d, err := l.limiter.Allow(context.Background(), key)
	return d.Allowed, err
}

func (l *weirLimiter) Close() { l.store.Close() }
