package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/redisstore"
)

// defaultStore is where redis-server listens when nothing is configured.
const defaultStore = "redis://localhost:6379/0"

// howToStart helps who has no Redis running.
const howToStart = "start one with `redis-server` (apt-get install redis-server, brew install redis) or `docker run -p 6379:6379 redis`, or name another with --store"

// openStore opens the store at url and makes sure that it answers within timeout. Decisions without it are errors: who
// runs a command wants to know.
func openStore(ctx context.Context, url string, timeout time.Duration) (*redisstore.Store, error) {
	store, err := redisstore.Open(url, redisstore.Options{Timeout: timeout, Outage: redisstore.OutageError})
	if err != nil {
		return nil, usageError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := store.Check(ctx); err != nil {
		store.Close()
		if errors.Is(err, redisstore.ErrOutage) {
			return nil, fmt.Errorf("%w; %s", err, howToStart)
		}
		return nil, err
	}
	return store, nil
}
