package weir

import (
	"context"
	"time"
)

// Scope is a limiter as stores see it: the namespace of its keys and its limits, reduced to integers. [New] makes it,
// nobody changes it.
type Scope struct {
	// Name is the namespace, possibly empty. The same key under two Names is two subjects.
	Name string
	// Specs are the limits, 1 to MaxLimits. The state of a subject is kept per position.
	Specs []Spec
}

// Result is what one limit says; see [Figures] for the meaning of the fields.
type Result struct {
	Remaining  int64
	RetryAfter time.Duration
	ResetAfter time.Duration
}

// Results holds a Result for each of a scope's Specs, that of an only one inline, so that a decision over one limit
// allocates nothing.
type Results struct {
	// One is the result of a scope's only Spec; zero if there are several.
	One Result
	// All begins with the results of several Specs in their order, which the caller may keep; nil for one. It is a
	// pointer and no slice so that Results has four words: what is larger does not travel in registers.
	All *[MaxLimits]Result
}

// Store holds the state of subjects and decides on it. A subject is a key, any bytes but none, in the namespace of a
// scope. The store's clock decides: the caller's time plays no part. It must be safe for concurrent use. An error
// means that it could not decide, never a refusal.
//
// Abilities beyond Take are the small interfaces [Peeker], [Adjuster] and [Resetter]; [Limiter] finds them by type
// assertion, and answers [ErrUnsupported] where they are missing. Package storetest defines what all of them must do.
type Store interface {
	// Take decides cost, 0 to MaxQuota, under all limits and charges it in the same atomic step if, and only if,
	// all of them admit it. A cost of 0 is always admitted and charges nothing; RetryAfter is then 0.
	//
	// Where a limit differs from the one under which the state was written, what was consumed carries over.
	Take(ctx context.Context, scope *Scope, key string, cost int64) (Results, error)
}

// Outage is the error of a [Store] that decided without its state, which it could not ask, as its policy for that says.
// [Limiter] makes a [Decision] of it that is marked as such.
type Outage struct {
	Results Results
	Err     error // why the state could not be asked
}

// Error implements the error interface.
func (o *Outage) Error() string { return o.Err.Error() }

// Unwrap returns the cause.
func (o *Outage) Unwrap() error { return o.Err }

// Peeker is a [Store] that can look without charging.
type Peeker interface {
	// Peek answers what Take would, and changes nothing.
	Peek(ctx context.Context, scope *Scope, key string, cost int64) (Results, error)
}

// Adjuster is a [Store] whose counts can be corrected afterwards. Both methods answer what Peek would answer after
// them for a cost of 1.
type Adjuster interface {
	// Refund gives back n units under every limit, most recent first, never above the full quota.
	Refund(ctx context.Context, scope *Scope, key string, n int64) (Results, error)
	// Charge takes n units under every limit without asking, into debt if need be. A debt is cut where
	// paying it would take more than a hundred years, and where a count would pass what computes exactly: 2^53-1
	// (microsecond units of a smooth bucket, units otherwise), 2^42-1 for a sliding window.
	Charge(ctx context.Context, scope *Scope, key string, n int64) (Results, error)
}

// Resetter is a [Store] that can forget a subject.
type Resetter interface {
	// Reset makes the subject as if it had never been seen, under all limits of the scope.
	Reset(ctx context.Context, scope *Scope, key string) error
}
