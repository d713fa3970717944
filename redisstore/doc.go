// Package redisstore keeps the state of limits in Redis or Valkey, where many processes share it:
//
//	store, err := redisstore.Open("redis://localhost:6379/0", redisstore.Options{})
//	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("10/s burst 20", "1000/h")})
//
// [Open] takes redis://, rediss://, redis-sentinel:// and redis-cluster:// URLs; [New] works over a client that is
// there already, see [Rueidis] and package goredis.
//
// One Lua script decides, at the server's clock: a decision is one trip and atomic, whatever the number of limits. It
// answers exactly as the store in memory does. Calls that are under way at the same time travel together, up to 128 in
// one script call, and nobody waits for a batch to fill.
//
// # When Redis does not answer
//
// Every operation ends within [Options.Timeout]. What takes and looks answer then is [Options.Outage]: by itself each
// process limits in memory. Such decisions have [weir.Decision.Outage] set and are counted in [Stats]. After three trips
// in a row that failed, Redis is not asked but probed, five times a second while there are calls. What waiting does not help
// against, such as a wrong password, is [ErrMisconfigured] and no outage. A charge whose reply was lost is not repeated.
//
// # Reading the source
//
// [Store], then lane (the queue), flight (a batch on its way), breaker and outage; the script is in
// internal/script, one .lua file beside its .go file for each algorithm.
package redisstore
