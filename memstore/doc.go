// Package memstore keeps the state of limits in this process.
//
// A subject under one limit is an entry of 32 bytes without pointers, about 40 bytes with its share of the table: the
// garbage collector does not see it, and a decision allocates nothing. Entries leave by themselves once they decide
// like fresh ones. [Options].MaxKeys bounds them: when the store is full, the entry closest to fresh of a group of
// up to 28 makes room, so that a flood of made-up keys does not make it forget an exhausted one, unless the made-up ones
// are exhausted too: see docs/memstore.md.
//
// A key is known by 96 bits of its SipHash-1-3-128 under a random key of the store. Among 10 million keys two share
// them with a chance of 6 in 10^16, and nobody who does not know the random key can make two meet.
//
// # Reading the source
//
// store.go is the interface, shard.go decides under a lock, internal/table is where entries live, internal/specs what they
// were written under, evict.go and sweep.go are how they leave, snapshot.go and restore.go how they outlive the process.
package memstore
