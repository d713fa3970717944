// Package table is the hash table of a shard of the in-process store: 32 bytes an entry, no pointers in the entries, no
// pauses.
package table
