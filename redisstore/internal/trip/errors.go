package trip

import "errors"

// The sentinels, which package redisstore, in whose name they speak, hands on.
var (
	// ErrOutage says that Redis did not answer in time, or answered that it cannot decide now.
	ErrOutage = errors.New("redisstore: outage")
	// ErrMisconfigured says that Redis answers, and that waiting will not help.
	ErrMisconfigured = errors.New("redisstore: misconfigured")
	// ErrForeignValue says that a key in Redis holds what no weir has written.
	ErrForeignValue = errors.New("redisstore: foreign value")
	// ErrClosed says that the engine was used after Close.
	ErrClosed = errors.New("redisstore: store is closed")
)
