package canonical

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// model is one bucket in exact rationals, and nothing of floating point or of Redis.
type model struct {
	capacity, refill, interval *big.Rat // interval in microseconds
	tokens                     *big.Rat
	last                       int64 // microseconds
	seen                       bool
}

func newModel(l Limit) *model {
	return &model{capacity: rat(decimal(l.Capacity)), refill: rat(decimal(l.Refill)), interval: new(big.Rat).SetInt64(l.Interval.Microseconds())}
}

// at returns the tokens and the time of the last step that the bucket has at now.
func (m *model) at(now int64) (*big.Rat, int64) {
	if !m.seen {
		return new(big.Rat).Set(m.capacity), now
	}
	steps := floor(new(big.Rat).Quo(new(big.Rat).SetInt64(now-m.last), m.interval))
	if steps <= 0 {
		return new(big.Rat).Set(m.tokens), m.last
	}
	tokens := new(big.Rat).Mul(new(big.Rat).SetInt64(steps), m.refill)
	tokens.Add(tokens, m.tokens)
	if tokens.Cmp(m.capacity) > 0 {
		tokens.Set(m.capacity)
	}
	return tokens, m.last + steps*floor(m.interval)
}

// put is a write.
func (m *model) put(tokens *big.Rat, last int64) { m.tokens, m.last, m.seen = tokens, last, true }

// theirs is a request of the other side, which always writes.
func (m *model) theirs(now int64) bool {
	tokens, last := m.at(now)
	one := big.NewRat(1, 1)
	admitted := tokens.Cmp(one) >= 0
	if admitted {
		tokens.Sub(tokens, one)
	}
	m.put(tokens, last)
	return admitted
}

// wait is the time until target tokens are there.
func (m *model) wait(target *big.Rat, now int64) time.Duration {
	tokens, last := m.at(now)
	short := new(big.Rat).Sub(target, tokens)
	if short.Sign() <= 0 {
		return 0
	}
	return time.Duration(last+ceil(short.Quo(short, m.refill))*floor(m.interval)-now) * time.Microsecond
}

// ours does what canonical.lua promises.
func (m *model) ours(op Op, cost, now int64) Outcome {
	tokens, last := m.at(now)
	amount := new(big.Rat).SetInt64(cost)
	target, admitted := amount, false
	switch {
	case op == Reset:
		m.seen = false
		return Outcome{Remaining: floor(m.capacity)}
	case op == Charge:
		if cost > 0 {
			m.put(tokens.Sub(tokens, amount), last)
		}
		target = big.NewRat(1, 1)
	case op == Refund:
		if cost > 0 && tokens.Cmp(m.capacity) < 0 {
			tokens.Add(tokens, amount)
			if tokens.Cmp(m.capacity) > 0 {
				tokens.Set(m.capacity)
			}
			m.put(tokens, last)
		}
		target = big.NewRat(1, 1)
	case cost == 0:
		admitted = true
	case op == Take && tokens.Cmp(amount) >= 0:
		m.put(tokens.Sub(tokens, amount), last)
		admitted = true
	}
	tokens, _ = m.at(now)
	out := Outcome{Remaining: max(0, floor(tokens)), ResetAfter: m.wait(m.capacity, now)}
	switch {
	case admitted:
	case target.Cmp(m.capacity) > 0:
		out.RetryAfter = weir.Never
	default:
		out.RetryAfter = m.wait(target, now)
	}
	return out
}

// exactLimits are limits whose numbers doubles hold exactly, as they do the multiples of tick.
var exactLimits = []Limit{
	{Capacity: 10, Refill: 1, Interval: time.Second},
	{Capacity: 5, Refill: 2, Interval: 250 * time.Millisecond},
	{Capacity: 3, Refill: 100, Interval: time.Minute},
	{Capacity: 7, Refill: 0.5, Interval: 1500 * time.Millisecond},
	{Capacity: 2.75, Refill: 0.375, Interval: 500 * time.Millisecond},
	{Capacity: 1, Refill: 0.0625, Interval: 15625 * time.Microsecond},
}

const tick int64 = 1e6 / 64

// TestExact: where doubles are exact, both sides together decide as one bucket does, to the step, the microsecond and
// the digit, also at the very end of a step.
func TestExact(t *testing.T) {
	client := newClient(t)
	for _, l := range exactLimits {
		t.Run(l.String(), func(t *testing.T) {
			r, m := newRig(t, client, l), newModel(l)
			random := rand.New(rand.NewPCG(1, uint64(l.Capacity*1e3)))
			ticks := l.Interval.Microseconds() / tick
			now := epoch
			for i := range 600 {
				switch random.IntN(4) {
				case 0:
					now += tick * random.Int64N(2*ticks+1)
				case 1: // where a step ends
					if m.seen {
						_, last := m.at(now)
						now = last + (1+random.Int64N(2))*ticks*tick
					}
				}
				if random.IntN(2) == 0 {
					if got, want := r.theirs(now), m.theirs(now); got != want {
						t.Fatalf("%d: theirs at %d: %t, want %t", i, now, got, want)
					}
				} else {
					op, cost := drawOp(random, l)
					if got, want := r.ours(op, cost, now), m.ours(op, cost, now); got != want {
						t.Fatalf("%d: %s %d at %d: %+v, want %+v", i, op, cost, now, got, want)
					} else if op == Take || op == Peek {
						r.checkWait(cost, now, got.RetryAfter)
					}
				}
				r.checkState(m)
			}
		})
	}
}

// drawOp is mostly a take.
func drawOp(random *rand.Rand, l Limit) (Op, int64) {
	cost := random.Int64N(int64(l.Capacity) + 2)
	switch random.IntN(24) {
	case 0, 1:
		return Refund, cost
	case 2:
		return Charge, cost
	case 3:
		return Reset, 0
	case 4, 5, 6:
		return Peek, cost
	}
	return Take, min(cost, 1+random.Int64N(3))
}

// checkWait: after the wait the cost is there, a microsecond earlier it is not.
func (r *rig) checkWait(cost, now int64, wait time.Duration) {
	r.Helper()
	if wait == 0 || wait == weir.Never {
		return
	}
	then := now + wait.Microseconds()
	if got := r.ours(Peek, cost, then).RetryAfter; got != 0 {
		r.Fatalf("%d at %d had to wait %v, and then %v more", cost, now, wait, got)
	}
	if got := r.ours(Peek, cost, then-1).RetryAfter; got != time.Microsecond {
		r.Fatalf("%d at %d had to wait %v, and a microsecond earlier %v", cost, now, wait, got)
	}
}

// checkState: the fields are those of the model, digit by digit.
func (r *rig) checkState(m *model) {
	r.Helper()
	tokens, last := r.fields()
	if (tokens != "") != m.seen {
		r.Fatalf("stored tokens %q, model has state: %t", tokens, m.seen)
	}
	if m.seen && (rat(tokens).Cmp(m.tokens) != 0 || rat(last).Cmp(big.NewRat(m.last, 1e6)) != 0) {
		r.Fatalf("stored %s tokens of %s, want %s of %d us", tokens, last, m.tokens.RatString(), m.last)
	}
}
