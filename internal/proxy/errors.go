package proxy

import (
	"errors"
	"fmt"
)

// ErrInvalidOptions is wrapped by every [OptionError].
var ErrInvalidOptions = errors.New("proxy: invalid options")

// OptionError says which of the [Options] is wrong, why, and what to do instead. It wraps [ErrInvalidOptions].
type OptionError struct {
	Field   string // of Options, such as "Upstream"
	Problem string // what is wrong with it
	Remedy  string // what to give instead
}

// Error implements the error interface.
func (e *OptionError) Error() string {
	return fmt.Sprintf("proxy: %s %s; %s", e.Field, e.Problem, e.Remedy)
}

// Unwrap returns [ErrInvalidOptions].
func (e *OptionError) Unwrap() error { return ErrInvalidOptions }

// errShutdown is the cause of requests that the end of the drain cuts short.
var errShutdown = errors.New("proxy: shutting down")
