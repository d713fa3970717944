package canonical

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// Source is the text of canonical.lua. It takes one key, which is used as it is.
//
//go:embed canonical.lua
var Source string

// SHA is the name under which a server knows Source.
var SHA = func() string {
	sum := sha1.Sum([]byte(Source))
	return hex.EncodeToString(sum[:])
}()

// Op is what to do with the bucket.
type Op string

// The operations. Their cost is a whole number, 0 to [weir.MaxQuota].
const (
	Take   Op = "take"   // takes the cost if it is there; a cost of 0 is always admitted and writes nothing
	Peek   Op = "peek"   // answers what Take would and writes nothing
	Refund Op = "refund" // gives the cost back, never above the capacity
	Charge Op = "charge" // takes the cost without asking, into debt if need be, which both sides pay off by refilling
	Reset  Op = "reset"  // deletes the key, also where the values of the two fields are no numbers
)

// ServerClock, as the time of a request, lets the server say what time it is. Anything else is for tests: the
// microseconds of the Unix epoch.
const ServerClock int64 = -1

// Bucket writes the arguments of requests to buckets with one limit. It is immutable and safe for concurrent use.
type Bucket struct {
	limit                      Limit
	capacity, refill, interval string
}

// New returns the bucket for a limit. An error is a [weir.LimitError].
func New(l Limit) (*Bucket, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	micros := l.Interval.Microseconds()
	return &Bucket{
		limit:    l,
		capacity: decimal(l.Capacity),
		refill:   decimal(l.Refill),
		interval: fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6),
	}, nil
}

// Limit returns what New was given.
func (b *Bucket) Limit() Limit { return b.limit }

// Encode returns the arguments of the script; cost must be 0 to [weir.MaxQuota], nowMicros is [ServerClock] or, in
// tests, a time.
func (b *Bucket) Encode(op Op, cost, nowMicros int64) []string {
	now := ""
	if nowMicros != ServerClock {
		now = strconv.FormatInt(nowMicros, 10)
	}
	return []string{string(op), strconv.FormatInt(cost, 10), b.capacity, b.refill, b.interval, now}
}

// Outcome is what the script says of the bucket after the operation.
type Outcome struct {
	// Remaining is how many more tokens can be taken at this instant; fractions do not count, debt counts as none.
	Remaining int64
	// RetryAfter is the time until the cost (of Refund and Charge: 1) is there if nobody else comes, to the
	// microsecond: 0 when Take took it, [weir.Never] when the cost is above the capacity.
	RetryAfter time.Duration
	// ResetAfter is the time until the bucket is full; 0 when it is.
	ResetAfter time.Duration
}

// Decode reads a reply of the script. A key that holds something else than a bucket is [ErrNotBucket], with what is
// wrong and what to do; nothing was changed then.
func Decode(reply *script.Reply) (Outcome, error) {
	switch {
	case len(reply.Ints) == 0 && len(reply.Texts) == 2:
		return Outcome{}, notBucket(reply.Texts[0], reply.Texts[1])
	case len(reply.Ints) != 3 || len(reply.Texts) != 0:
		return Outcome{}, fmt.Errorf("%w: %d integers and texts %.80q", ErrReply, len(reply.Ints), reply.Texts)
	}
	out := Outcome{
		Remaining:  reply.Ints[0],
		RetryAfter: time.Duration(reply.Ints[1]) * time.Microsecond,
		ResetAfter: time.Duration(reply.Ints[2]) * time.Microsecond,
	}
	if reply.Ints[1] < 0 {
		out.RetryAfter = weir.Never
	}
	return out, nil
}

// notBucket is the error for what the script found instead of a bucket.
func notBucket(problem, detail string) error {
	const rename = "limit under another key, or delete this one"
	switch problem {
	case "type":
		return fmt.Errorf("%w: it is a %s, not a hash; %s", ErrNotBucket, detail, rename)
	case "fields":
		return fmt.Errorf("%w: the hash has %s other fields than tokens and last_refill; %s", ErrNotBucket, detail, rename)
	case "missing":
		return fmt.Errorf("%w: the hash has no field %s; reset the bucket or delete the key", ErrNotBucket, detail)
	case "tokens", "last_refill":
		return fmt.Errorf("%w: the field %s is %q, not a finite number; reset the bucket or delete the key", ErrNotBucket, problem, detail)
	}
	return fmt.Errorf("%w: %.80q, %.80q", ErrReply, problem, detail)
}
