package redisstore

import (
	"errors"

	"github.com/weirhq/weir/redisstore/internal/canonical"
	"github.com/weirhq/weir/redisstore/internal/trip"
)

// The sentinels, to be found with errors.Is.
var (
	// ErrOutage says that Redis did not answer in time, or answered that it cannot decide now. Takes and looks return
	// it under [OutageError] only: other policies decide. Refunds, charges and resets always do.
	ErrOutage = trip.ErrOutage
	// ErrMisconfigured says that Redis answers, and that waiting will not help: the credentials, the permissions, the
	// kind of server or the address are wrong. No outage policy covers it.
	ErrMisconfigured = trip.ErrMisconfigured
	// ErrForeignValue says that the subject's key in Redis holds what no weir has written. It stays as it is.
	ErrForeignValue = trip.ErrForeignValue
	// ErrNotBucket says that the key of a [Canonical] holds no bucket of the documented script.
	ErrNotBucket = canonical.ErrNotBucket
	// ErrClosed says that the store was used after Close.
	ErrClosed = trip.ErrClosed
	// ErrInvalidOptions says that a store cannot be built from its [Options].
	ErrInvalidOptions = errors.New("redisstore: invalid options")
)
