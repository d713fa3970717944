package canonical

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// decimalLimits are limits whose numbers doubles do not hold, each with the fractions that are meant.
var decimalLimits = []struct {
	limit  Limit
	refill *big.Rat
}{
	{Limit{Capacity: 1, Refill: 0.1, Interval: 100 * time.Millisecond}, big.NewRat(1, 10)},
	{Limit{Capacity: 10, Refill: 0.1, Interval: 10 * time.Millisecond}, big.NewRat(1, 10)},
	{Limit{Capacity: 10, Refill: 1. / 3, Interval: 333333 * time.Microsecond}, big.NewRat(1, 3)},
	{Limit{Capacity: 3.3, Refill: 1.1, Interval: 700 * time.Millisecond}, big.NewRat(11, 10)},
	{Limit{Capacity: 1e6, Refill: 2. / 3, Interval: 1100 * time.Microsecond}, big.NewRat(2, 3)},
	{Limit{Capacity: 4, Refill: 0.7, Interval: time.Millisecond}, big.NewRat(7, 10)},
}

// dust is what counts as nothing: 1e-9 tokens.
var dust = big.NewRat(1, 1e9)

// TestTogetherOneBucket: both sides at the bottom of one bucket get exactly what it gives out, none lost and none
// minted, when the numbers are no binary fractions either. They ask in the middle of each step.
func TestTogetherOneBucket(t *testing.T) {
	client := newClient(t)
	for _, c := range decimalLimits {
		t.Run(c.limit.String(), func(t *testing.T) {
			r := newRig(t, client, c.limit)
			random := rand.New(rand.NewPCG(2, 2))
			interval := c.limit.Interval.Microseconds()
			m := newModel(c.limit)
			m.refill = c.refill
			all := int64(c.limit.Capacity)
			if got, want := r.ours(Take, all, epoch), m.ours(Take, all, epoch); got.Remaining != want.Remaining {
				t.Fatalf("a new bucket: %+v, want %+v", got, want)
			}
			admitted, want := 0, 0
			for step := int64(0); step < 400; step += 1 + random.Int64N(3) {
				now := epoch + step*interval + interval/2 + random.Int64N(interval/5)
				for m.theirs(now) {
					want++
				}
				for more := true; more; { // until ours gets nothing: theirs may miss a token for dust
					if random.IntN(2) == 0 && r.theirs(now) {
						admitted++
					}
					if more = r.takes(1, now); more {
						admitted++
					}
				}
				if admitted != want {
					t.Fatalf("step %d: admitted %d, one bucket gives out %d", step, admitted, want)
				}
			}
			if admitted == 0 {
				t.Error("nothing was admitted")
			}
		})
	}
}

// TestEachRequest: every single answer follows from the state before it, wherever in a step it falls. Ours is exact to
// the microsecond, reads what the other side wrote as the nearest one, and takes a count within dust for what is meant.
// The other side may miss a step in the microsecond that ends it, and a token for dust.
func TestEachRequest(t *testing.T) {
	client := newClient(t)
	for _, c := range decimalLimits {
		t.Run(c.limit.String(), func(t *testing.T) {
			r := newRig(t, client, c.limit)
			random := rand.New(rand.NewPCG(3, 3))
			interval := c.limit.Interval.Microseconds()
			now := epoch
			r.takes(1, now)
			for range 500 {
				tokens, last := r.fields()
				s := state{limit: c.limit, refill: c.refill, tokens: rat(tokens), last: micros(t, last)}
				switch random.IntN(3) {
				case 0:
					now = max(now, nearest(s.last)+(1+random.Int64N(2))*interval-1+random.Int64N(3))
				case 1:
					now += random.Int64N(interval)
				}
				if random.IntN(2) == 0 {
					s.checkTheirs(r, now)
				} else {
					s.checkOurs(r, now, 1+random.Int64N(min(3, int64(c.limit.Capacity))))
				}
			}
		})
	}
}

// state is what a request finds.
type state struct {
	limit  Limit
	refill *big.Rat
	tokens *big.Rat
	last   *big.Rat // microseconds, not always whole
}

// micros is what a double makes of a time in seconds, in microseconds.
func micros(t *testing.T, text string) *big.Rat {
	t.Helper()
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	x := new(big.Rat).SetFloat64(seconds)
	return x.Mul(x, big.NewRat(1e6, 1))
}

// nearest is x as a whole number, by way of a double: near a half it may be the other one.
func nearest(x *big.Rat) int64 {
	f, _ := x.Float64()
	return int64(math.Floor(f + 0.5))
}

// after is the count after that many steps.
func (s *state) after(steps int64) *big.Rat {
	tokens := new(big.Rat).Mul(s.refill, new(big.Rat).SetInt64(max(0, steps)))
	tokens.Add(tokens, s.tokens)
	if most := rat(decimal(s.limit.Capacity)); steps > 0 && tokens.Cmp(most) > 0 {
		return most
	}
	return tokens
}

// near says whether two counts are the same but for dust.
func near(a, b *big.Rat) bool {
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(dust) <= 0
}

func (s *state) checkOurs(r *rig, now, cost int64) {
	r.Helper()
	last, interval := nearest(s.last), s.limit.Interval.Microseconds()
	steps := (now - last) / interval
	have := s.after(steps)
	short := new(big.Rat).Sub(new(big.Rat).SetInt64(cost), have)
	want := short.Cmp(dust) <= 0
	before, lastBefore := r.fields()
	got := r.ours(Take, cost, now)
	if (got.RetryAfter == 0) != want {
		r.Fatalf("ours %d at %d with %s: %+v, want admitted %t", cost, now, have.FloatString(20), got, want)
	}
	tokens, stored := r.fields()
	if !want {
		r.checkWait(cost, now, got.RetryAfter)
		if tokens != before || stored != lastBefore {
			r.Fatalf("a refusal changed %s of %s to %s of %s", before, lastBefore, tokens, stored)
		}
		return
	}
	if !near(rat(tokens), have.Sub(have, new(big.Rat).SetInt64(cost))) {
		r.Fatalf("ours left %s, want %s", tokens, have.FloatString(20))
	}
	if steps == 0 && stored != lastBefore && lastBefore != "" {
		r.Fatalf("ours moved last_refill from %s to %s within a step", lastBefore, stored)
	}
	if steps > 0 && rat(stored).Cmp(big.NewRat(last+steps*interval, 1e6)) != 0 {
		r.Fatalf("ours wrote %s, want %d us", stored, last+steps*interval)
	}
}

func (s *state) checkTheirs(r *rig, now int64) {
	r.Helper()
	last, interval := nearest(s.last), s.limit.Interval.Microseconds()
	steps := max(0, (now-last)/interval)
	got := r.theirs(now)
	tokens, stored := r.fields()
	moved := new(big.Rat).Sub(micros(r.T, stored), s.last)
	seen := nearest(moved.Quo(moved, new(big.Rat).SetInt64(interval)))
	if late := seen == steps-1 && last+steps*interval == now; seen != steps && !late {
		r.Fatalf("theirs at %d saw %d steps since %s, not %d", now, seen, s.last.FloatString(3), steps)
	}
	have := s.after(seen)
	short := new(big.Rat).Sub(big.NewRat(1, 1), have)
	if want := short.Sign() < 0; got != want && !near(short, new(big.Rat)) {
		r.Fatalf("theirs at %d with %s: admitted %t, want %t", now, have.FloatString(20), got, want)
	}
	if got {
		have.Sub(have, big.NewRat(1, 1))
	}
	if !near(rat(tokens), have) {
		r.Fatalf("theirs left %s, want %s", tokens, have.FloatString(20))
	}
}
