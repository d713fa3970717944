// Package goredis lets a store of package redisstore use an existing client of go-redis.
//
// # What go-redis does by itself
//
// By default go-redis repeats a command up to three times (MaxRetries) whose reply did not come: after a timeout, an end
// of the connection or a reset. A script that charges would then charge up to four times. The commands of [Runner] say
// that they must not be repeated (NoRetry), which go-redis obeys on every kind of client, whatever MaxRetries is. They
// are sent again only where they were not executed: by a cluster client after MOVED and ASK.
//
// go-redis connects, and waits for a free connection, no longer than a call's context allows. But for a reply it waits
// as long as ReadTimeout says, 5 s by default, unless ContextTimeoutEnabled is set. Set it, or a ReadTimeout that is
// not much longer than the Timeout of the store: the store answers its callers in time in any case, but a connection,
// and a place among the calls under way, is held until go-redis lets go.
package goredis
