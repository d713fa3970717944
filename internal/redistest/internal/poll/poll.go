package poll

import (
	"errors"
	"fmt"
	"time"
)

const (
	// Patience is how long [Until] waits.
	Patience = 20 * time.Second
	// every is the time between two looks.
	every = 5 * time.Millisecond
)

// Until calls look until it returns nil. It gives up after [Patience] with look's last error, and at once with one that
// is [Final].
func Until(what string, look func() error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for deadline := time.Now().Add(Patience); ; <-tick.C {
		err := look()
		if err == nil {
			return nil
		}
		if last, ok := errors.AsType[final](err); ok {
			return last.error
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("poll: %s: not within %v: %w", what, Patience, err)
		}
	}
}

type final struct{ error }

// Final marks an error after which there is nothing to wait for.
func Final(err error) error { return final{err} }
