package algo_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"pgregory.net/rapid"
)

// drawSmall draws a limit whose edges a short trace reaches.
func drawSmall(t *rapid.T) weir.Limit {
	n := rapid.Int64Range(1, 12).Draw(t, "quota")
	refill := rapid.Int64Range(1, 12).Draw(t, "refill")
	period := rapid.SampledFrom([]time.Duration{time.Millisecond, 1500 * time.Microsecond, 7 * time.Millisecond, time.Second}).Draw(t, "period")
	unit := rapid.SampledFrom([]weir.Calendar{weir.Day, weir.Week, weir.Month}).Draw(t, "unit")
	return rapid.SampledFrom([]weir.Limit{
		weir.TokenBucket{Capacity: n, Refill: refill, Interval: period},
		weir.LeakyBucket{Capacity: n, Leak: refill, Interval: period},
		weir.TokenBucket{Capacity: n, Refill: refill, Interval: period, Stepwise: true},
		weir.FixedWindow{Limit: n, Window: period},
		weir.FixedWindow{Limit: n, Window: period, Anchored: true},
		weir.FixedWindow{Limit: n, Calendar: unit, Zone: "Europe/Berlin"},
		weir.SlidingWindow{Limit: n, Window: period},
		weir.SlidingLog{Limit: n, Window: period},
	}).Draw(t, "limit")
}

// past is a subject that has been through some operations, and the time after them.
type past struct {
	*subject
	limit weir.Limit
	now   int64
}

// drawPast draws operations of all kinds, and does them. Only with backwards does time go back.
func drawPast(t *rapid.T, backwards bool) *past {
	p := &past{limit: drawSmall(t), now: 1_700_000_000_000_000 + rapid.Int64Range(0, 3_000_000).Draw(t, "start")}
	p.subject = newSubject(p.limit)
	for range rapid.IntRange(0, 12).Draw(t, "operations") {
		p.wait(t, backwards)
		n := rapid.Int64Range(0, p.spec.Quota+1).Draw(t, "n")
		switch rapid.SampledFrom([]string{"take", "take", "take", "refund", "charge"}).Draw(t, "operation") {
		case "take":
			p.take(p.now, n)
		case "refund":
			p.refund(p.now, n)
		case "charge":
			p.charge(p.now, n)
		}
	}
	p.wait(t, backwards)
	return p
}

func (p *past) wait(t *rapid.T, backwards bool) {
	length := lengthOf(p.limit)
	choices := []int64{0, 0, 1, length / 3, length - 1, length, length + 1, rapid.Int64Range(0, 2*length).Draw(t, "pause")}
	if backwards {
		choices = append(choices, -1, -length/2, -length, -2*length-1)
	}
	p.now += rapid.SampledFrom(choices).Draw(t, "pauses")
}

// copy returns a subject that knows nothing of what happens to p.
func (p *past) copy() *subject {
	c := *p.subject
	c.state = clone(c.state)
	return &c
}

func TestRemainingIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t, true)
		f := p.peek(p.now, 1)
		if f.Remaining < 0 || f.Remaining > f.Limit {
			t.Fatalf("%v: remaining is %d of %d", p.limit, f.Remaining, f.Limit)
		}
		if _, taken := p.copy().take(p.now, f.Remaining+1); taken {
			t.Fatalf("%v: took %d of %d that remained", p.limit, f.Remaining+1, f.Remaining)
		}
		if _, taken := p.take(p.now, f.Remaining); !taken {
			t.Fatalf("%v: %d remained and could not be taken", p.limit, f.Remaining)
		}
	})
}

func TestWaitingIsHonest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t, true)
		cost := rapid.Int64Range(1, p.spec.Quota).Draw(t, "cost")
		f, taken := p.take(p.now, cost)
		if taken {
			return
		}
		wait := f.RetryAfter.Microseconds()
		if wait <= 0 {
			t.Fatalf("%v: take %d is refused and told to wait %v", p.limit, cost, f.RetryAfter)
		}
		if _, taken := p.copy().take(p.now+wait-1, cost); taken {
			t.Fatalf("%v: take %d is admitted a microsecond before %v", p.limit, cost, f.RetryAfter)
		}
		if _, taken := p.take(p.now+wait, cost); !taken {
			t.Fatalf("%v: take %d is refused after %v", p.limit, cost, f.RetryAfter)
		}
	})
}

func TestCostAboveQuotaIsNever(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t, true)
		cost := rapid.Int64Range(p.spec.Quota+1, weir.MaxQuota).Draw(t, "cost")
		if f, taken := p.take(p.now, cost); taken || f.RetryAfter != weir.Never {
			t.Fatalf("%v: take %d: taken = %v, retry %v, want refused for ever", p.limit, cost, taken, f.RetryAfter)
		}
	})
}

func TestRefusalsAndLooksChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t, true)
		twin := &past{subject: p.copy(), limit: p.limit}
		for range 5 {
			p.wait(t, true)
			p.peek(p.now, rapid.Int64Range(0, p.spec.Quota+1).Draw(t, "look"))
			p.take(p.now, 0)
			p.take(p.now, p.peek(p.now, 1).Remaining+1)
			cost := rapid.Int64Range(1, p.spec.Quota).Draw(t, "cost")
			got, _ := p.take(p.now, cost)
			if want, _ := twin.take(p.now, cost); got != want {
				t.Fatalf("%v: take %d: got %+v, but %+v without the refusals before", p.limit, cost, got, want)
			}
		}
	})
}

func TestRefundUndoesTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t, false)
		cost := rapid.Int64Range(1, p.spec.Quota).Draw(t, "cost")
		before := p.peek(p.now, 1)
		if _, taken := p.take(p.now, cost); !taken {
			return
		}
		if after := p.refund(p.now, cost); after != before {
			t.Fatalf("%v: after take %d and its refund: got %+v, want %+v", p.limit, cost, after, before)
		}
	})
}

func TestFullIsFresh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t, true)
		f := p.peek(p.now, 1)
		reset := f.ResetAfter.Microseconds()
		if (reset == 0) != (f.Remaining == f.Limit) || (reset == 0) != p.fresh(p.now) {
			t.Fatalf("%v: %+v, fresh = %v", p.limit, f, p.fresh(p.now))
		}
		if reset > 0 && p.peek(p.now+reset-1, 1).Remaining == f.Limit {
			t.Fatalf("%v: full a microsecond before %v", p.limit, f.ResetAfter)
		}
		now, cost := p.now+reset, rapid.Int64Range(1, p.spec.Quota).Draw(t, "cost")
		got, _ := p.take(now, cost)
		if want, _ := newSubject(p.limit).take(now, cost); got != want {
			t.Fatalf("%v: take %d after %v: got %+v, a fresh subject says %+v", p.limit, cost, f.ResetAfter, got, want)
		}
	})
}

// admission is what a trace let pass.
type admission struct{ at, n int64 }

// TestBounds: no trace of takes lets more pass, in any interval whatever, than the documentation of the limit says.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &past{limit: drawSmall(t), now: 1_700_000_000_000_000}
		p.subject = newSubject(p.limit)
		var passed []admission
		for range rapid.IntRange(1, 40).Draw(t, "takes") {
			p.wait(t, false)
			n := rapid.Int64Range(1, p.spec.Quota).Draw(t, "cost")
			if rapid.Bool().Draw(t, "greedy") {
				n = max(1, p.peek(p.now, 1).Remaining)
			}
			if _, taken := p.take(p.now, n); taken {
				passed = append(passed, admission{p.now, n})
			}
		}
		for i := range passed {
			sum := int64(0)
			for _, a := range passed[i:] {
				sum += a.n
				if most := bound(p.limit, passed[i].at, a.at); big.NewRat(sum, 1).Cmp(most) > 0 {
					t.Fatalf("%v: %d passed in %dus, want at most %v", p.limit, sum, a.at-passed[i].at, most)
				}
			}
		}
	})
}

// bound returns the most that may pass from the instant first to the instant last, both included.
func bound(limit weir.Limit, first, last int64) *big.Rat {
	elapsed := last - first
	times := func(n, k int64) *big.Rat { return new(big.Rat).Mul(big.NewRat(n, 1), big.NewRat(k, 1)) }
	bucket := func(capacity, refill int64, interval time.Duration) *big.Rat {
		back := big.NewRat(elapsed, interval.Microseconds())
		back.Mul(back, big.NewRat(refill, 1))
		return back.Add(back, big.NewRat(capacity, 1))
	}
	switch l := limit.(type) {
	case weir.TokenBucket:
		if l.Stepwise {
			interval := l.Interval.Microseconds()
			steps := (elapsed + interval - 1) / interval // those after first and not after last
			return new(big.Rat).Add(times(l.Refill, steps), big.NewRat(l.Capacity, 1))
		}
		return bucket(l.Capacity, l.Refill, l.Interval)
	case weir.LeakyBucket:
		return bucket(l.Capacity, l.Leak, l.Interval)
	case weir.FixedWindow:
		return times(l.Limit, windows(l, first, last))
	case weir.SlidingWindow:
		// In each window's length at most twice the limit.
		return times(2*l.Limit, elapsed/l.Window.Microseconds()+1)
	case weir.SlidingLog:
		return times(l.Limit, elapsed/l.Window.Microseconds()+1)
	}
	panic("unknown limit")
}

// windows returns how many windows an interval can touch.
func windows(l weir.FixedWindow, first, last int64) int64 {
	if l.Calendar != weir.NoCalendar {
		n := int64(1)
		zone, err := time.LoadLocation(l.Zone)
		if err != nil {
			panic(err)
		}
		for at := time.UnixMicro(first).In(zone); ; n++ {
			y, m, d := at.Date()
			switch l.Calendar {
			case weir.Day:
				d++
			case weir.Week:
				d += 1 + (7-int(at.Weekday()))%7
			case weir.Month:
				m, d = m+1, 1
			}
			if at = time.Date(y, m, d, 0, 0, 0, 0, zone); at.UnixMicro() > last {
				return n
			}
		}
	}
	length := l.Window.Microseconds()
	if l.Anchored {
		return (last-first)/length + 2
	}
	return last/length - first/length + 1
}

// TestBoundsAreReached: the bounds in the documentation of the limits are not stricter than the limits.
func TestBoundsAreReached(t *testing.T) {
	const start = 1_704_067_200_000_000 // a minute's start
	for _, c := range []struct {
		limit string
		takes []admission
	}{
		// Capacity + Refill/Interval x T.
		{"10/s burst 20", []admission{{0, 20}, {300_000, 3}}},
		// Capacity + Refill for each step in T, the first of which may come at once.
		{"10/s burst 10 stepwise", []admission{{0, 1}, {999_999, 9}, {1_000_000, 10}}},
		// Twice the limit around an edge.
		{"10/m fixed-window", []admission{{59_999_999, 10}, {60_000_000, 10}}},
		{"10/m fixed-window anchored", []admission{{0, 1}, {59_999_999, 9}, {60_000_000, 10}}},
		// Twice the limit in less than a window's length, because the estimate is rounded down.
		{"10/m sliding-window", []admission{{59_999_999, 10}, {119_999_998, 10}}},
		{"10/m sliding-log", []admission{{0, 10}, {60_000_000, 10}}},
	} {
		s := newSubject(weir.MustParseLimit(c.limit))
		for _, a := range c.takes {
			if f, taken := s.take(start+a.at, a.n); !taken {
				t.Errorf("%s: take %d at %dus: got refused, %+v", c.limit, a.n, a.at, f)
			}
		}
	}
}
