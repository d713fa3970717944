package redistest

import (
	"errors"

	"github.com/weirhq/weir/internal/redistest/internal/wire"
)

var (
	// ErrMissing is returned when the server program is not on this machine.
	ErrMissing = errors.New("redistest: no server program")
	// ErrEnded is returned when a server's process ended while it was waited for.
	ErrEnded = errors.New("redistest: the server has ended")
	// ErrOptions is returned for [Options] that contradict themselves.
	ErrOptions = errors.New("redistest: options")
)

// Error is what a server answered instead of a result, such as "WRONGPASS invalid username-password pair". It is a string.
type Error = wire.Error
