package redisstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore/internal/canonical"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// CanonicalLimit has the numbers of a bucket that is shared with the documented script. Every service that shares it must
// be given the same ones: each side applies its own to what it finds.
type CanonicalLimit struct {
	// Capacity is the most that can be taken at once, 1 to [weir.MaxQuota]. It may have a fraction. Required.
	Capacity float64
	// Refill is how many tokens come back at the end of each Interval, the refill_rate of the documentation. From
	// 0.000001 and a 10^12th of Capacity to [weir.MaxQuota]; it may have a fraction. Required.
	Refill float64
	// Interval is the time between two steps, the refill_interval of the documentation: whole microseconds from
	// [weir.MinPeriod] to [weir.MaxPeriod], within which the bucket must also be full again. Required.
	Interval time.Duration
}

// Canonical decides on buckets that services in other languages share, which run the token-bucket script of the Redis
// documentation: the key as it is, a hash with the fields tokens and last_refill. It is safe for concurrent use.
//
// Its keys know neither [Options.Prefix] nor namespaces nor hashing, and are not sent in batches. Otherwise it is like a
// [weir.Limiter] with one limit on the store: the same timeout, the same outage policy, the same errors. But it is none, so
// middleware cannot take it.
type Canonical struct {
	store  *Store
	bucket *canonical.Bucket
	scope  weir.Scope // what stands in for the bucket during an outage
}

// Canonical returns a limiter over buckets of the documented script. An error is a [weir.LimitError].
func (s *Store) Canonical(limit CanonicalLimit) (*Canonical, error) {
	bucket, err := canonical.New(canonical.Limit(limit))
	if err != nil {
		return nil, err
	}
	spec, err := weir.SpecOf(wholeLimit(limit))
	if err != nil {
		return nil, err
	}
	c := &Canonical{store: s, bucket: bucket}
	c.scope = weir.Scope{Name: "canonical", Specs: []weir.Spec{spec}}
	return c, nil
}

// wholeLimit is the limit in whole tokens that is closest to l, never more generous.
func wholeLimit(l CanonicalLimit) weir.Limit {
	b := weir.TokenBucket{Capacity: int64(l.Capacity), Refill: int64(l.Refill), Interval: l.Interval, Stepwise: true}
	if l.Refill != math.Trunc(l.Refill) {
		micros := math.Ceil(float64(l.Interval.Microseconds()) / l.Refill)
		if one := time.Duration(micros) * time.Microsecond; one >= weir.MinPeriod {
			b.Refill, b.Interval, b.Stepwise = 1, one, false
		}
	}
	return b
}

// Allow takes one token from key if it is there.
func (c *Canonical) Allow(ctx context.Context, key string) (weir.Decision, error) {
	return c.AllowN(ctx, key, 1)
}

// AllowN takes n tokens from key if they are there.
func (c *Canonical) AllowN(ctx context.Context, key string, n int64) (weir.Decision, error) {
	return c.do(ctx, canonical.Take, "allow", key, n)
}

// Peek answers what Allow would answer now, and changes nothing.
func (c *Canonical) Peek(ctx context.Context, key string) (weir.Decision, error) {
	return c.PeekN(ctx, key, 1)
}

// PeekN answers what AllowN would answer now, and changes nothing.
func (c *Canonical) PeekN(ctx context.Context, key string, n int64) (weir.Decision, error) {
	return c.do(ctx, canonical.Peek, "peek", key, n)
}

// Refund gives n tokens back, never above the capacity.
func (c *Canonical) Refund(ctx context.Context, key string, n int64) (weir.Decision, error) {
	return c.do(ctx, canonical.Refund, "refund", key, n)
}

// Charge takes n tokens without asking, into debt if need be.
func (c *Canonical) Charge(ctx context.Context, key string, n int64) (weir.Decision, error) {
	return c.do(ctx, canonical.Charge, "charge", key, n)
}

// Reset fills the bucket: it deletes the key.
func (c *Canonical) Reset(ctx context.Context, key string) error {
	_, err := c.do(ctx, canonical.Reset, "reset", key, 0)
	return err
}

// outageOps are the operations as the outage policy knows them.
var outageOps = map[canonical.Op]script.Op{
	canonical.Take: script.Take, canonical.Peek: script.Peek, canonical.Refund: script.Refund,
	canonical.Charge: script.Charge, canonical.Reset: script.Reset,
}

func (c *Canonical) do(ctx context.Context, op canonical.Op, name, key string, n int64) (weir.Decision, error) {
	d, err := c.decide(ctx, op, key, n)
	if errors.Is(err, ErrOutage) || errors.Is(err, ErrMisconfigured) {
		_, err = c.store.decideWithout(ctx, outageOps[op], &c.scope, key, n, err)
	}
	if out, ok := errors.AsType[*weir.Outage](err); ok {
		r := out.Results.One
		return c.decision(canonical.Outcome{Remaining: r.Remaining, RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter}, true), nil
	}
	if err != nil {
		return weir.Decision{}, &weir.Error{Op: name, Key: key, Err: err}
	}
	return d, nil
}

// decide asks Redis.
func (c *Canonical) decide(ctx context.Context, op canonical.Op, key string, n int64) (weir.Decision, error) {
	switch {
	case key == "":
		return weir.Decision{}, weir.ErrNoKey
	case n < 0 || n > weir.MaxQuota:
		return weir.Decision{}, fmt.Errorf("%w: %d; use 0 to %d", weir.ErrInvalidCost, n, int64(weir.MaxQuota))
	}
	reply, err := c.store.canonical.Run(ctx, key, c.bucket.Encode(op, n, canonical.ServerClock))
	if err != nil {
		return weir.Decision{}, err
	}
	outcome, err := canonical.Decode(&reply)
	if err != nil {
		return weir.Decision{}, err
	}
	c.store.decisions.Add(1)
	return c.decision(outcome, false), nil
}

// decision makes a decision of an outcome.
func (c *Canonical) decision(o canonical.Outcome, outage bool) weir.Decision {
	return weir.Decision{
		Allowed: o.RetryAfter == 0, Outage: outage, Limit: int64(c.bucket.Limit().Capacity),
		Remaining: o.Remaining, RetryAfter: o.RetryAfter, ResetAfter: o.ResetAfter,
	}
}
