// Package algo holds the arithmetic of every limit: one pure file per algorithm, integers in, integers out. It knows
// no clock, no lock and no I/O. Times are microseconds of the Unix epoch, from 0 to 2^53-1, in the store's clock.
//
// The rules that all of them keep:
//
//   - Time in a state never goes back. An earlier now gives nothing back and moves nothing; waits are counted from
//     the state's time. A state that lies further ahead than one full refill did not come from this clock and counts
//     as fresh.
//   - A state that decides like a fresh one is fresh: the zero [State], which a store need not keep.
//   - Waits are exact: at now + wait the cost is admitted, one microsecond earlier it is not.
//   - Nothing passes 2^53-1, so that a script whose numbers are doubles computes the same.
package algo
