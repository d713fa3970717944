package weir

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Options say what a [Limiter] decides.
type Options struct {
	// Name separates this limiter's keys from those of others on the same store. Limiters with the same store and
	// Name share the state of equal keys, limit by limit in their order. At most 256 bytes; empty is a name too.
	Name string
	// Limits are decided all-or-nothing: a refusal by one charges none. 1 to [MaxLimits]. Required.
	Limits []Limit
}

// maxName bounds Options.Name.
const maxName = 256

// Limiter decides requests against its limits. It holds no state of its own: the store does. It is immutable and
// safe for concurrent use; [New] makes one.
//
// Every method takes a context, whose end is an error before anything is charged. An error is an [*Error] and means
// that nothing was decided; a refusal is a [Decision].
type Limiter struct {
	store  Store
	scope  Scope
	limits []Limit
}

// New returns a limiter over store. It refuses limits that cannot be decided exactly, with a [LimitError].
func New(store Store, opts Options) (*Limiter, error) {
	switch {
	case store == nil:
		return nil, fmt.Errorf("%w: store is nil; give one, such as a *memstore.Store", ErrInvalidOptions)
	case len(opts.Name) > maxName:
		return nil, fmt.Errorf("%w: Name has %d bytes; use at most %d", ErrInvalidOptions, len(opts.Name), maxName)
	case len(opts.Limits) == 0:
		return nil, fmt.Errorf(`%w: Limits is empty; give 1 to %d, such as weir.MustParseLimits("10/s")`, ErrInvalidOptions, MaxLimits)
	case len(opts.Limits) > MaxLimits:
		return nil, fmt.Errorf("%w: Limits has %d entries; use at most %d", ErrInvalidOptions, len(opts.Limits), MaxLimits)
	}
	l := &Limiter{store: store, limits: slices.Clone(opts.Limits)}
	l.scope = Scope{Name: opts.Name, Specs: make([]Spec, len(opts.Limits))}
	for i, limit := range l.limits {
		spec, err := SpecOf(limit)
		if err != nil && len(l.limits) > 1 {
			err = fmt.Errorf("%w (Limits[%d])", err, i)
		}
		if err != nil {
			return nil, err
		}
		l.scope.Specs[i] = spec
	}
	return l, nil
}

// MustNew is [New] for limiters that stand in the program; it panics on an error.
func MustNew(store Store, opts Options) *Limiter {
	l, err := New(store, opts)
	if err != nil {
		panic(err)
	}
	return l
}

// With returns a limiter with other limits on the same store and Name, so that limits can change while keys are live.
// What a key has consumed carries over from the limit at the same position, at most the new quota: the first take
// under the new limit, even one that is refused, cuts what is above. Limiters whose limits should not cut each other,
// such as those of two plans between which a key alternates, need Names of their own.
func (l *Limiter) With(limits ...Limit) (*Limiter, error) {
	return New(l.store, Options{Name: l.scope.Name, Limits: limits})
}

// Name returns the limiter's namespace.
func (l *Limiter) Name() string { return l.scope.Name }

// Limits returns the limits in their order.
func (l *Limiter) Limits() []Limit { return slices.Clone(l.limits) }

// operation names a method in errors.
type operation string

const (
	opAllow  operation = "allow"
	opPeek   operation = "peek"
	opRefund operation = "refund"
	opCharge operation = "charge"
	opReset  operation = "reset"
)

// Allow takes one unit from key if every limit has it.
func (l *Limiter) Allow(ctx context.Context, key string) (d Decision, err error) {
	err = l.do(ctx, opAllow, &d, key, 1)
	return d, err
}

// AllowN takes n units from key if every limit has them, all or none. A cost of 0 is always allowed and takes nothing;
// one above a limit is refused with [Never]; a negative one is [ErrInvalidCost].
func (l *Limiter) AllowN(ctx context.Context, key string, n int64) (d Decision, err error) {
	err = l.do(ctx, opAllow, &d, key, n)
	return d, err
}

// Peek answers what Allow would answer now, and changes nothing.
func (l *Limiter) Peek(ctx context.Context, key string) (d Decision, err error) {
	err = l.do(ctx, opPeek, &d, key, 1)
	return d, err
}

// PeekN answers what AllowN would answer now, and changes nothing.
func (l *Limiter) PeekN(ctx context.Context, key string, n int64) (d Decision, err error) {
	err = l.do(ctx, opPeek, &d, key, n)
	return d, err
}

// Refund gives n units back to key, such as after a request that failed. Never above the full quota. It undoes the
// most recent takes first; units that have come back by themselves meanwhile are not given back twice, as far as the
// state tells: refund soon. The decision is what Peek answers afterwards.
func (l *Limiter) Refund(ctx context.Context, key string, n int64) (d Decision, err error) {
	err = l.do(ctx, opRefund, &d, key, n)
	return d, err
}

// Charge takes n units from key without asking, into debt if need be: for costs that are known only afterwards, such
// as bytes sent or tokens generated. The decision is what Peek answers afterwards.
func (l *Limiter) Charge(ctx context.Context, key string, n int64) (d Decision, err error) {
	err = l.do(ctx, opCharge, &d, key, n)
	return d, err
}

// Reset makes key as if it had never been seen.
func (l *Limiter) Reset(ctx context.Context, key string) error {
	resetter, ok := l.store.(Resetter)
	err := check(ctx, key, 0)
	switch {
	case err == nil && !ok:
		err = ErrUnsupported
	case err == nil:
		err = resetter.Reset(ctx, &l.scope, key)
	}
	if err != nil {
		return &Error{Op: string(opReset), Key: key, Err: err}
	}
	return nil
}

// do asks the store and fills d. The decision is written in place rather than returned: copies of what was just
// written cost more than the decision itself.
func (l *Limiter) do(ctx context.Context, op operation, d *Decision, key string, n int64) error {
	err := check(ctx, key, n)
	if err == nil {
		var r Results
		if op == opAllow {
			r, err = l.store.Take(ctx, &l.scope, key, n)
		} else {
			r, err = l.ask(ctx, op, key, n)
		}
		if err == nil {
			d.decide(&l.scope, r)
			return nil
		}
		if out, ok := errors.AsType[*Outage](err); ok {
			d.decide(&l.scope, out.Results)
			d.Outage = true
			return nil
		}
	}
	return &Error{Op: string(op), Key: key, Err: err}
}

// ask calls the optional ability of the store that op needs.
func (l *Limiter) ask(ctx context.Context, op operation, key string, n int64) (Results, error) {
	peeker, canPeek := l.store.(Peeker)
	adjuster, canAdjust := l.store.(Adjuster)
	switch {
	case op == opPeek && canPeek:
		return peeker.Peek(ctx, &l.scope, key, n)
	case op == opRefund && canAdjust:
		return adjuster.Refund(ctx, &l.scope, key, n)
	case op == opCharge && canAdjust:
		return adjuster.Charge(ctx, &l.scope, key, n)
	}
	return Results{}, ErrUnsupported
}

func check(ctx context.Context, key string, n int64) error {
	switch {
	case key == "":
		return ErrNoKey
	case n < 0:
		return fmt.Errorf("%w: %d is negative; use 0 to %d, with Refund to give back and Charge to take without asking", ErrInvalidCost, n, int64(MaxQuota))
	case n > MaxQuota:
		return fmt.Errorf("%w: %d is above %d; use 0 to that, or larger units", ErrInvalidCost, n, int64(MaxQuota))
	}
	return ctx.Err()
}
