package weir

import (
	"errors"
	"fmt"
)

// The sentinels, to be found with errors.Is.
var (
	// ErrInvalidLimit is wrapped by every [LimitError].
	ErrInvalidLimit = errors.New("weir: invalid limit")
	// ErrInvalidCost says that a cost is negative or larger than [MaxQuota].
	ErrInvalidCost = errors.New("weir: invalid cost")
	// ErrNoKey says that a key is empty. One limit for everybody takes a key of its own, such as "global".
	ErrNoKey = errors.New(`weir: empty key; name the subject, or use one key for all, such as "global"`)
	// ErrUnsupported says that the store lacks the ability that the call needs.
	ErrUnsupported = errors.New("weir: not supported by this store")
	// ErrInvalidOptions says that a limiter cannot be built from its [Options].
	ErrInvalidOptions = errors.New("weir: invalid options")
)

// Error says that an operation could not decide. A refusal is never an Error: it is a [Decision].
type Error struct {
	Op  string // "allow", "peek", "refund", "charge" or "reset"
	Key string // the key as the caller gave it
	Err error  // the cause
}

// Error implements the error interface.
func (e *Error) Error() string { return fmt.Sprintf("weir: %s %q: %v", e.Op, e.Key, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// LimitError says which number of a limit is refused, why, and what to do instead.
// It wraps [ErrInvalidLimit].
type LimitError struct {
	Limit   string // the limit, as text
	Field   string // the field or word that is wrong, such as "capacity" or "period"
	Value   string // the value it has
	Problem string // the bound that it breaks
	Remedy  string // what to write instead
}

// Error implements the error interface.
func (e *LimitError) Error() string {
	return fmt.Sprintf("weir: limit %q: %s %s %s; %s", e.Limit, e.Field, e.Value, e.Problem, e.Remedy)
}

// Unwrap returns [ErrInvalidLimit].
func (e *LimitError) Unwrap() error { return ErrInvalidLimit }
