package redisstore_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore"
)

func Example() {
	store, err := redisstore.Open("redis://localhost:6379/0", redisstore.Options{Processes: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	limiter := weir.MustNew(store, weir.Options{Name: "api", Limits: weir.MustParseLimits("10/s burst 20", "1000/h")})

	d, err := limiter.Allow(context.Background(), "user:42")
	switch {
	case err != nil: // misconfigured, or the context has ended
	case !d.Allowed: // refused: come back in d.RetryAfter
	case d.Outage: // allowed, but Redis has not been asked
	}
}

// Without Redis each process limits by itself, with its share of the limit.
func ExampleOptions_outage() {
	store, err := redisstore.Open("redis://localhost:1", redisstore.Options{
		Outage: redisstore.OutageLocal, Processes: 2, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("4/h")})
	for range 3 {
		d, err := limiter.Allow(context.Background(), "user:42")
		fmt.Println(d.Allowed, d.Outage, err)
	}
	// Output:
	// true true <nil>
	// true true <nil>
	// false true <nil>
}

// A bucket that services in other languages charge, too, by the script of the Redis documentation.
func ExampleStore_Canonical() {
	store, err := redisstore.Open("redis://localhost:6379/0", redisstore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	bucket, err := store.Canonical(redisstore.CanonicalLimit{Capacity: 10, Refill: 0.5, Interval: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	d, err := bucket.Allow(context.Background(), "rate_limit:user:42")
	if err == nil && !d.Allowed {
		fmt.Println("come back in", d.RetryAfter)
	}
}
