// Package storetest is the definition of a [weir.Store]: what passes [Run] is one.
//
// A store's own test says how to open it and how its time is moved. In memory, time is that of a synctest bubble:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
//			synctest.Test(t, func(t *testing.T) {
//				store := memstore.MustNew(memstore.Options{})
//				defer store.Close()
//				body(t, storetest.Rig{Store: store, Advance: time.Sleep, Now: time.Now})
//			})
//		})
//	}
//
// The suite compares every answer with that of a naive model, on written stories ([Traces]) and on random ones. A
// failure of a random one prints its seed; STORETEST_SEED=n in the environment repeats it, STORETEST_STEPS=n makes
// the random stories longer or shorter: n steps, divided by the number of limits.
//
// # Traces
//
// A file of traces is text, line by line; # starts a comment, empty lines are skipped. A trace is a title, one line
// for each limit, the time at which it begins, and steps:
//
//	trace a burst, then the steady rate
//	limit 10/s burst 20
//	at 2024-01-01T00:00:00Z
//	+0s    take 20 -> allowed 0 reset 2s
//	+150ms take 2  -> refused 1 retry 50ms reset 1.85s
//	+0s    take 21 -> refused 1 never reset 1.85s
//	+0s    limits 20/s
//	+0s    reset
//	+0s    peek 20 -> allowed 20
//
// A step is by how much time moves, an operation (take, peek, refund and charge with a number, reset, or limits with
// the limits that are in force from then on, separated by |) and after -> the expected decision: allowed or refused,
// and the figures of each limit, separated by |. Figures are what remains, then "retry" and a wait, or "never", and
// "reset" and a wait. A wait that is left out is 0. After a refund or charge they are those of a look for 1.
package storetest
