// Package weir decides whether a request may pass a rate limit.
//
// A [Limiter] holds one or several limits and asks a store, in one atomic step, whether all of them admit a request:
//
//	store := memstore.MustNew(memstore.Options{})
//	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("10/s burst 20", "1000/h")})
//
//	d, err := limiter.Allow(ctx, "user:42")
//	switch {
//	case err != nil: // could not decide
//	case !d.Allowed: // refused: come back in d.RetryAfter
//	}
//
// A refusal is a [Decision], never an error. All arithmetic is in integers of microseconds and exact: at
// now + RetryAfter the same cost is admitted, one microsecond earlier it is not.
//
// # Which limit
//
//   - [TokenBucket] (the default of [ParseLimit]) lets bursts up to its capacity pass and refills continuously, or
//     stepwise.
//   - [LeakyBucket] is the same decision seen from below.
//   - [FixedWindow] counts per window: aligned to the epoch, to a calendar in a time zone, or to the first request.
//   - [SlidingWindow] estimates a moving window from two counters.
//   - [SlidingLog] is exact: never more than the limit in any window.
//
// # Reading the source
//
// Six names in this order tell the whole story: [Limit] (what can be said), [Spec] (what it is reduced to),
// [Store] (who decides), package internal/algo (how: one pure file per algorithm), [Limiter] (who asks) and
// [Decision] (what comes back). The in-process store is package memstore, the HTTP middleware package httplimit.
package weir
