package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/weirhq/weir/redisstore"
)

// sharedFlags are those of a proxy whose limits are shared with others through Redis.
type sharedFlags struct {
	Store     string `xor:"state" placeholder:"URL" help:"Keep the limits' state in the Redis at this URL, such as ${store}, for all proxies that do the same; without, in memory."`
	Outage    string `enum:"local,allow,deny,error" default:"local" placeholder:"POLICY" help:"What holds while Redis is away: local (each proxy limits by itself), allow, deny, or error, which is 503 (${default})."`
	Processes int    `placeholder:"N" help:"How many proxies share the limits: with local each then has 1/N of them (1)."`
	Prefix    string `placeholder:"PREFIX" help:"What all keys in Redis begin with (weir:). Proxies with other limits need another one."`
}

// open returns the store, or nil when the flags name none. Redis has not been asked yet.
func (f *sharedFlags) open(log *slog.Logger) (*redisstore.Store, error) {
	switch {
	case f.Store == "" && (f.Processes != 0 || f.Prefix != ""):
		return nil, errors.New("--processes and --prefix are for a shared state; name its Redis with --store, such as " + defaultStore)
	case f.Store == "":
		return nil, nil
	}
	outage, err := redisstore.ParseOutage(f.Outage)
	if err != nil {
		return nil, err
	}
	return newStore(f.Store, "--store", redisstore.Options{Prefix: f.Prefix, Outage: outage, Processes: f.Processes, Log: log})
}

// lookTimeout is how long Redis may take at the start before it is said to be away.
const lookTimeout = 2 * time.Second

// look tells log if the store does not answer. Nobody waits for that: the outage policy holds meanwhile. The returned
// function ends it.
func look(ctx context.Context, store *redisstore.Store, log *slog.Logger) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		checking, done := context.WithTimeout(ctx, lookTimeout)
		defer done()
		if err := store.Check(checking); err != nil && ctx.Err() == nil {
			log.Warn("the Redis of --store does not answer as it should", "error", err)
		}
	})
	return func() { cancel(); looking.Wait() }
}
