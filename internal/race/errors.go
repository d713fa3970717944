package race

import (
	"errors"
	"fmt"
)

// ErrInterrupted says that the context of [Run] ended before the race did.
var ErrInterrupted = errors.New("race: interrupted")

// OptionError says which of the [Options] is wrong, why, and what to do instead.
type OptionError struct {
	Field   string // of Options, such as "Limit"
	Problem string // what is wrong with it
	Remedy  string // what to give instead
}

// Error implements the error interface.
func (e *OptionError) Error() string {
	return fmt.Sprintf("race: %s %s; %s", e.Field, e.Problem, e.Remedy)
}
