package storetest

import (
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// testCosts: 0 is always allowed and takes nothing, the whole quota can be taken at once, and more than it never.
func testCosts(p *pair) {
	quota := quotaOf(p.limits[0])
	full := weir.Figures{Limit: quota, Remaining: quota}
	p.expectLook("a key that was never seen", full)
	p.do(Peek, 1)
	p.do(Peek, quota)
	p.allows(0)
	if f := p.refuses(quota + 1); f.RetryAfter != weir.Never {
		p.fail("take %d of %d: got %v, want %v", quota+1, quota, f.RetryAfter, weir.Never)
	}
	p.refuses(weir.MaxQuota)
	p.do(Peek, quota+1)
	p.expectLook("after costs that take nothing", full)

	p.allows(1)
	p.allows(quota - 1)
	p.refuses(1)
	p.refuses(quota)
	p.refuses(quota + 1)
	p.allows(0)

	after := p.look().ResetAfter
	p.advance(after - time.Microsecond)
	if f := p.look(); f.ResetAfter != time.Microsecond {
		p.fail("a microsecond before %v: got %+v, want a reset after 1µs", after, f)
	}
	p.advance(time.Microsecond)
	p.expectLook("after the reset", full)
	p.allows(quota)
}

func (p *pair) expectLook(when string, want weir.Figures) {
	p.t.Helper()
	if got := p.look(); got != want {
		p.fail("look %s: got %+v, want %+v", when, got, want)
	}
}

// testRemaining: what remains is admitted at this instant, and not one more.
func testRemaining(p *pair) {
	quota := quotaOf(p.limits[0])
	p.do(Take, 2)
	for _, pause := range []time.Duration{
		0, 70 * time.Millisecond, 333_333 * time.Microsecond, 999_999 * time.Microsecond, 45 * time.Second, 25 * time.Second,
	} {
		p.advance(pause)
		left := p.look().Remaining
		if left < 0 || left > quota {
			p.fail("remaining is %d of %d", left, quota)
		}
		p.refuses(left + 1)
		p.allows(left)
		if f := p.refuses(1); f.Remaining != 0 {
			p.fail("remaining is %d after all of it was taken", f.Remaining)
		}
	}
}

// testWaiting: after the wait that a refusal names the same cost is admitted, and a microsecond earlier it is not.
// Some stores have work to do in each second: the case does not wait for days.
func testWaiting(p *pair) {
	quota := quotaOf(p.limits[0])
	for _, cost := range []int64{1, 2, quota / 2, quota, 1} {
		p.allows(p.look().Remaining)
		f := p.refuses(cost)
		if f.RetryAfter <= 0 || f.RetryAfter > f.ResetAfter || f.ResetAfter == weir.Never {
			p.fail("take %d: got %s, want 0 < retry <= reset", cost, Format([]weir.Figures{f}))
		}
		p.advance(f.RetryAfter - time.Microsecond)
		p.do(Peek, cost)
		if f := p.refuses(cost); f.RetryAfter != time.Microsecond {
			p.fail("take %d a microsecond too early: got retry %v, want 1µs", cost, f.RetryAfter)
		}
		p.advance(time.Microsecond)
		p.do(Peek, cost)
		p.allows(cost)
		p.advance(f.RetryAfter / 3)
		if p.look().ResetAfter > time.Hour {
			return
		}
	}
}

// testRefusals: a refused take, and a look, change nothing that a later decision can see.
func testRefusals(p *pair) {
	quota := quotaOf(p.limits[0])
	q := p.other("user:43")
	for i, cost := range []int64{3, quota - 1, 1, quota, 2, 1, 5, quota / 2, 1, 1} {
		f := p.look()
		p.do(Take, f.Remaining+1)
		p.do(Take, quota+1)
		p.do(Peek, 1)
		p.do(Peek, quota)
		p.do(Take, 0)
		asked, left := p.do(Take, cost), q.do(Take, cost)
		if asked[0] != left[0] {
			p.fail("take %d: got %s for the key that was asked in between, %s for its twin",
				cost, Format(asked), Format(left))
		}
		wait := min(f.ResetAfter/2, 20*time.Second) + time.Duration(i)*time.Microsecond
		p.advance(wait)
	}
}

// testRefund: what is given back can be taken again, and never more than the quota.
func testRefund(p *pair) {
	if !p.can(Refund) {
		return
	}
	quota := quotaOf(p.limits[0])
	full := weir.Figures{Limit: quota, Remaining: quota}
	p.do(Refund, 3)
	p.expectLook("after a refund of nothing", full)
	p.allows(quota)
	p.do(Refund, 3)
	p.refuses(4)
	p.allows(3)
	p.refuses(1)
	p.do(Refund, weir.MaxQuota)
	p.expectLook("after a refund of everything", full)

	p.allows(4)
	before := p.look()
	p.allows(5)
	p.do(Refund, 5)
	p.expectLook("after a take and its refund", before)
	p.advance(before.ResetAfter / 2)
	p.do(Refund, 1)
}

// testCharge: a charge is not asked whether it fits, and its debt is paid by waiting or by refunds.
func testCharge(p *pair) {
	if !p.can(Charge) {
		return
	}
	quota := quotaOf(p.limits[0])
	p.do(Charge, 0)
	p.expectLook("after a charge of nothing", weir.Figures{Limit: quota, Remaining: quota})
	p.do(Charge, quota+4)
	p.refuses(1)
	p.do(Refund, 4)
	p.refuses(1)
	p.do(Refund, 1)
	p.allows(1)
	p.do(Charge, quota)
	f := p.refuses(1)
	p.advance(f.RetryAfter - time.Microsecond)
	p.refuses(1)
	p.advance(time.Microsecond)
	p.allows(1)
	p.do(Charge, weir.MaxQuota)
	p.do(Charge, weir.MaxQuota)
	p.refuses(1)
}

// testReset: a key that is reset was never seen, and other keys do not notice.
func testReset(p *pair) {
	if !p.can(Reset) {
		return
	}
	quota := quotaOf(p.limits[0])
	full := weir.Figures{Limit: quota, Remaining: quota}
	q := p.other("user:43")
	p.do(Reset, 0)
	p.expectLook("after a reset of nothing", full)
	p.allows(quota)
	q.allows(quota)
	p.do(Reset, 0)
	p.expectLook("after a reset", full)
	q.refuses(quota)
	p.do(Charge, 2*quota)
	p.do(Reset, 0)
	p.expectLook("after a reset of a debt", full)
}

// severalCases: several limits are decided all-or-nothing.
func severalCases() []testCase {
	var cases []testCase
	loose := weir.MustParseLimit("1000/h fixed-window")
	for _, limit := range kinds {
		cases = append(cases, testCase{"none/" + limit.String(), func(t *testing.T, rig Rig) {
			testNone(newPair(t, rig, limit, loose), 0)
			testNone(newPair(t, rig, loose, limit).other("tight last"), 1)
		}})
	}
	return cases
}

// testNone exhausts the limit at position tight: the other must not notice what is refused from then on.
func testNone(p *pair, tight int) {
	quota := quotaOf(p.limits[tight])
	p.allows(quota)
	for range 5 {
		f := p.do(Take, 1)
		if f[tight].RetryAfter == 0 || f[1-tight].RetryAfter != 0 {
			p.fail("take 1 after %d: got %s, want only limit %d to refuse", quota, Format(f), tight)
		}
		if want := 1000 - quota; f[1-tight].Remaining != want {
			p.fail("take 1, refused: got %s, want %d to remain of the other", Format(f), want)
		}
	}
	f := p.do(Take, quota+1)
	if f[tight].RetryAfter != weir.Never || f[1-tight].RetryAfter != 0 {
		p.fail("take %d: got %s, want never by limit %d alone", quota+1, Format(f), tight)
	}
}
