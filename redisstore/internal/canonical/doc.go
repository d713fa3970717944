// Package canonical shares one bucket with services in other languages that run the token-bucket script of the Redis
// documentation (redis.io, develop/use-cases/rate-limiter): the same raw key, a hash with the fields tokens and
// last_refill, the same stepwise refill. canonical.lua is our side of it, [Bucket] writes its arguments and [Decode]
// reads its reply.
//
// What the documented script does, in its own terms: a missing field tokens means a full bucket whose last_refill is
// now; steps = floor((now - last_refill) / interval); if steps > 0, tokens = min(capacity, tokens + steps x refill) and
// last_refill += steps x interval; a request takes 1 if tokens >= 1; both fields are written, also by a refusal. All
// numbers are doubles, the times are epoch seconds, and the caller says what time it is.
//
// Ours decides the same and differs where that script leaves something open:
//
//   - It takes any whole cost, asks the server for the time, and gives the key an expiry. When it refuses it writes
//     nothing, but for an expiry that would come too early or that an untrusted time lacks, see below.
//   - Steps are counted in whole microseconds; tokens are added in the same doubles in the same order. Both sides see the
//     same steps at every microsecond but the one that ends a step, in which the other side's rounding may hide it until
//     the next; not even there where now, last_refill and interval are exact as doubles, such as multiples of 1/64 s. A
//     last_refill that the other side's sums have moved off the microseconds, or cut to the 14 digits of tostring, is
//     read as the nearest one; until 2106 nothing else is lost in reading and writing.
//   - A count of tokens within 1e-9 of a whole number or of the capacity is that number, so that ten steps of 0.1 are a
//     token here, while they are 0.9999999999999999 there. With whole numbers, and with fractions that doubles hold,
//     there is no such dust and both sides' numbers are equal to the last digit. With other fractions of counts above a
//     million or so a double's own steps grow past 1e-9.
//   - More tokens than the capacity are a full bucket at once, not only with the next step.
//   - Time does not go back: while last_refill lies ahead of the server's clock nothing is refilled and it stays where it
//     is, so that callers whose clocks differ by d get at most the steps of d more than one clock would give, once in the
//     life of the key.
//
// Two things are kept bounded by keep, ten full refills but at least a minute and at most a hundred years. The other
// side's writes do not move the expiry that ours set, keep after the bucket is full. So a key that only the other side
// has used for that long can vanish although tokens are in use: at most one capacity more in keep, and only as often as
// our side writes; a refusal of ours that sees it coming moves the expiry. And a last_refill that lies more than keep
// ahead is not trusted. It still refills nothing, and is not moved back, which would let a caller with that clock refill
// again and again; but a refusal then lets the key expire after keep. A nearer one is waited for. So nobody is locked out
// for longer than keep and a full refill.
package canonical
