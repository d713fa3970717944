package weir_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
)

// The examples count in windows that start with their first request, so that their figures do not depend on the
// time of day. What a wait says is rounded, because real time passes.

func Example() {
	ctx := context.Background()
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("2/h anchored", "100/d anchored")})

	for range 3 {
		d, err := limiter.Allow(ctx, "user:42")
		switch {
		case err != nil:
			fmt.Println("could not decide:", err)
		case !d.Allowed:
			fmt.Println("come back in", d.RetryAfter.Round(time.Minute))
		default:
			fmt.Println("welcome,", d.Remaining, "more")
		}
	}
	// Output:
	// welcome, 1 more
	// welcome, 0 more
	// come back in 1h0m0s
}

// exampleLimiter returns a limiter on a store of its own.
func exampleLimiter(limits ...string) *weir.Limiter {
	return weir.MustNew(memstore.MustNew(memstore.Options{}), weir.Options{Name: "example", Limits: weir.MustParseLimits(limits...)})
}

func ExampleNew() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	_, err := weir.New(store, weir.Options{Limits: []weir.Limit{weir.SlidingLog{Limit: 50_000, Window: time.Hour}}})
	fmt.Println(err)
	fmt.Println(errors.Is(err, weir.ErrInvalidLimit))
	// Output:
	// weir: limit "50000/h sliding-log": limit 50000 is above 10000, and a log keeps an entry for each request; use the sliding window, which needs two numbers per key, or accept the cost with Large (the word large) up to 1000000
	// true
}

func ExampleMustNew() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	limiter := weir.MustNew(store, weir.Options{Name: "login", Limits: weir.MustParseLimits("5/m", "20/d calendar Europe/Berlin")})
	fmt.Println(limiter.Name(), limiter.Limits())
	// Output: login [5/m 20/d fixed-window calendar Europe/Berlin]
}

func ExampleLimiter_Allow() {
	limiter := exampleLimiter("1/h anchored")
	d, err := limiter.Allow(context.Background(), "ann")
	fmt.Println(d.Allowed, err)
	d, err = limiter.Allow(context.Background(), "ann")
	fmt.Println(d.Allowed, err)
	d, err = limiter.Allow(context.Background(), "bob")
	fmt.Println(d.Allowed, err)
	// Output:
	// true <nil>
	// false <nil>
	// true <nil>
}

// A request may cost more than one unit. What can never be admitted says so.
func ExampleLimiter_AllowN() {
	limiter := exampleLimiter("100/h anchored")
	for _, cost := range []int64{70, 40, 101, 0} {
		d, err := limiter.AllowN(context.Background(), "ann", cost)
		fmt.Println(cost, d.Allowed, d.Remaining, d.RetryAfter == weir.Never, err)
	}
	// Output:
	// 70 true 30 false <nil>
	// 40 false 30 false <nil>
	// 101 false 30 true <nil>
	// 0 true 30 false <nil>
}

func ExampleLimiter_Peek() {
	limiter := exampleLimiter("1/h anchored")
	for range 2 {
		d, err := limiter.Peek(context.Background(), "ann")
		fmt.Println(d.Allowed, d.Remaining, err)
	}
	// Output:
	// true 1 <nil>
	// true 1 <nil>
}

func ExampleLimiter_PeekN() {
	limiter := exampleLimiter("10/h anchored")
	d, err := limiter.PeekN(context.Background(), "ann", 11)
	fmt.Println(d.Allowed, d.RetryAfter == weir.Never, err)
	// Output: false true <nil>
}

// A request that failed through no fault of the caller need not count.
func ExampleLimiter_Refund() {
	ctx := context.Background()
	limiter := exampleLimiter("10/h anchored")
	limiter.AllowN(ctx, "ann", 4)
	d, err := limiter.Refund(ctx, "ann", 3)
	fmt.Println(d.Remaining, err)
	// Output: 9 <nil>
}

// What a request costs may be known only when it is done: take an estimate, then charge the rest.
func ExampleLimiter_Charge() {
	ctx := context.Background()
	limiter := exampleLimiter("1000/h anchored")
	limiter.AllowN(ctx, "ann", 100)
	d, err := limiter.Charge(ctx, "ann", 1150)
	fmt.Println(d.Allowed, d.Remaining, d.RetryAfter.Round(time.Minute), err)
	// Output: false 0 1h0m0s <nil>
}

func ExampleLimiter_Reset() {
	ctx := context.Background()
	limiter := exampleLimiter("10/h anchored")
	limiter.AllowN(ctx, "ann", 10)
	fmt.Println(limiter.Reset(ctx, "ann"))
	d, err := limiter.Allow(ctx, "ann")
	fmt.Println(d.Allowed, d.Remaining, err)
	// Output:
	// <nil>
	// true 9 <nil>
}

// A customer who upgrades in mid-window keeps what was used, not what was left.
func ExampleLimiter_With() {
	ctx := context.Background()
	free := exampleLimiter("10/h anchored")
	paid, err := free.With(weir.MustParseLimit("100/h anchored"))
	if err != nil {
		fmt.Println(err)
		return
	}
	free.AllowN(ctx, "ann", 10)
	d, err := paid.Allow(ctx, "ann")
	fmt.Println(d.Allowed, d.Remaining, err)
	// Output: true 89 <nil>
}

func ExampleLimiter_Limits() {
	fmt.Println(exampleLimiter("10/1s", "600/60m leaky-bucket").Limits())
	// Output: [10/s 600/h leaky-bucket]
}

func ExampleLimiter_Name() {
	fmt.Println(exampleLimiter("10/s").Name())
	// Output: example
}

// Of several limits the decision reports the one that decided, and what each of them says.
func ExampleDecision_Figures() {
	limiter := exampleLimiter("3/h anchored", "5/d anchored")
	d, err := limiter.AllowN(context.Background(), "ann", 4)
	fmt.Println(d.Allowed, d.Deciding, err)
	for _, f := range d.Figures() {
		fmt.Println(f.Remaining, "of", f.Limit, f.RetryAfter == weir.Never)
	}
	// Output:
	// false 0 <nil>
	// 3 of 3 true
	// 5 of 5 false
}

func ExampleParseLimit() {
	for _, text := range []string{"10/s burst 20", "600/60m", "1000/month", "5/m sliding-log", "5/500us"} {
		limit, err := weir.ParseLimit(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s: %T\n", limit, limit)
	}
	// Output:
	// 10/s burst 20: weir.TokenBucket
	// 600/h: weir.TokenBucket
	// 1000/month fixed-window calendar UTC: weir.FixedWindow
	// 5/m sliding-log: weir.SlidingLog
	// weir: limit "5/500µs": interval 500µs is below 1ms; use a longer one with more units: 1000/s instead of 1 per 1ms or less
}

func ExampleMustParseLimit() {
	fmt.Println(weir.MustParseLimit("100/15m burst 20 leaky-bucket"))
	// Output: 100/15m burst 20 leaky-bucket
}

func ExampleParseLimits() {
	limits, err := weir.ParseLimits("10/s", "1000/h")
	fmt.Println(limits, err)
	// Output: [10/s 1000/h] <nil>
}

func ExampleMustParseLimits() {
	fmt.Println(len(weir.MustParseLimits("10/s", "1000/h")))
	// Output: 2
}

func ExampleTokenBucket() {
	fmt.Println(weir.TokenBucket{Capacity: 20, Refill: 10, Interval: time.Second, Stepwise: true})
	// Output: 10/s burst 20 stepwise
}

func ExampleLeakyBucket() {
	fmt.Println(weir.LeakyBucket{Capacity: 20, Leak: 10, Interval: time.Second})
	// Output: 10/s burst 20 leaky-bucket
}

func ExampleFixedWindow() {
	fmt.Println(weir.FixedWindow{Limit: 10, Window: time.Minute, Anchored: true})
	fmt.Println(weir.FixedWindow{Limit: 1000, Calendar: weir.Month, Zone: "Europe/Berlin"})
	// Output:
	// 10/m fixed-window anchored
	// 1000/month fixed-window calendar Europe/Berlin
}

func ExampleSlidingWindow() {
	fmt.Println(weir.SlidingWindow{Limit: 100, Window: 15 * time.Minute})
	// Output: 100/15m sliding-window
}

func ExampleSlidingLog() {
	fmt.Println(weir.SlidingLog{Limit: 50_000, Window: time.Hour, Large: true})
	// Output: 50000/h sliding-log large
}

func ExampleCalendar() {
	fmt.Println(weir.Day, weir.Week, weir.Month, weir.Year)
	// Output: d w month year
}

// Two limits with the same spec are decided alike.
func ExampleSpecOf() {
	a, errA := weir.SpecOf(weir.MustParseLimit("600/m burst 10"))
	b, errB := weir.SpecOf(weir.MustParseLimit("10/s leaky-bucket"))
	fmt.Println(a == b, errA, errB)
	fmt.Println(a.Quota, "tokens,", a.Refill, "each", a.Period, "microseconds")
	// Output:
	// true <nil> <nil>
	// 10 tokens, 1 each 100000 microseconds
}

func ExampleSpec_Limit() {
	spec, err := weir.SpecOf(weir.MustParseLimit("600/m burst 10 leaky-bucket"))
	fmt.Println(spec.Limit(), err)
	// Output: 1/100ms burst 10 <nil>
}

func ExampleError() {
	limiter := exampleLimiter("10/s")
	_, err := limiter.AllowN(context.Background(), "ann", -1)
	var failed *weir.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Op, failed.Key, errors.Is(err, weir.ErrInvalidCost))
	}
	// Output: allow ann true
}

func ExampleLimitError() {
	_, err := weir.ParseLimit("10/s burst many")
	var wrong *weir.LimitError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Field, wrong.Value, wrong.Problem)
		fmt.Println(wrong.Remedy)
	}
	// Output:
	// burst "many" is not a whole number from 1 to 9007199254740991
	// write one, such as 10
}
