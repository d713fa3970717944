package rivals

import (
	"context"
	"time"

	"github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
)

// goLimiter counts in windows of an hour that begin with the first request of a key.
type goLimiter struct{ store limiter.Store }

func newGoLimiter(n int) Limiter {
	store, err := memorystore.New(&memorystore.Config{Tokens: uint64(n), Interval: time.Hour})
	if err != nil {
		panic(err)
	}
	return goLimiter{store}
}

func (l goLimiter) Allow(key string) bool {
	_, _, _, ok, err := l.store.Take(context.Background(), key)
	return err == nil && ok
}

func (l goLimiter) Close() { l.store.Close(context.Background()) }
