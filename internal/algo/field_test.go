package algo_test

import (
	"fmt"
	"testing"

	"github.com/weirhq/weir"
)

// What broke elsewhere, where one subject's arithmetic is enough to show it.

// fieldStart is a day's start, in microseconds.
const fieldStart = 1_704_067_200_000_000

// everyKind are limits of 10 units that do not come back for a minute.
var everyKind = weir.MustParseLimits("10/10m", "10/10m stepwise", "10/10m fixed-window", "10/10m fixed-window anchored",
	"10/d fixed-window calendar UTC", "10/10m sliding-window", "10/10m sliding-log")

// admits counts how many of n takes of 1 are admitted at the times that at gives.
func (s *subject) admits(n int, at func(i int) int64) (admitted int) {
	for i := range n {
		if _, taken := s.take(at(i), 1); taken {
			admitted++
		}
	}
	return admitted
}

// TestBackwardsTimeMintsNothing: two clocks five seconds apart that take turns get no more than one of them.
func TestBackwardsTimeMintsNothing(t *testing.T) {
	for _, limit := range everyKind {
		s := newSubject(limit)
		got := s.admits(200, func(i int) int64 { return fieldStart + 10e6 - int64(i%2)*5e6 })
		if got != 10 {
			t.Errorf("%v: 200 takes, every other 5s earlier: got %d admitted, want 10", limit, got)
		}
	}
}

// TestLateWritesWipeNothing: a take with an old time counts, and leaves what newer ones counted.
func TestLateWritesWipeNothing(t *testing.T) {
	for _, limit := range everyKind {
		s := newSubject(limit)
		s.charge(fieldStart+1e6, 8)
		s.take(fieldStart-1e6, 1)
		if f := s.peek(fieldStart+1e6, 1); f.Remaining != 1 {
			t.Errorf("%v: 8 taken, then 1 two seconds earlier: got %d remaining, want 1", limit, f.Remaining)
		}
	}
}

// TestCostAboveQuotaIsRefusedForEver: waiting as told does not help where nothing helps, and nothing is charged.
func TestCostAboveQuotaIsRefusedForEver(t *testing.T) {
	for _, limit := range everyKind {
		s := newSubject(limit)
		for i := range int64(3) {
			f, taken := s.take(fieldStart+i*3600e6, 11)
			if taken || f.RetryAfter != weir.Never || f.Remaining != 10 {
				t.Errorf("%v: take 11: got taken = %v, %+v, want refused for ever and 10 remaining", limit, taken, f)
			}
		}
	}
}

// TestHammeringAdmitsNoMore: 1 per 1.9 s, asked each 10 ms for 8 s.
func TestHammeringAdmitsNoMore(t *testing.T) {
	for _, text := range []string{"1/1900ms", "1/1900ms stepwise", "1/1900ms fixed-window anchored", "1/1900ms sliding-log"} {
		s := newSubject(weir.MustParseLimit(text))
		if got := s.admits(800, func(i int) int64 { return fieldStart + int64(i)*10_000 }); got != 5 {
			t.Errorf("%s: 800 takes in 8s: got %d admitted, want 5", text, got)
		}
	}
}

// TestRefusalsDoNotDelay: who is refused again and again is admitted as soon as who waits.
func TestRefusalsDoNotDelay(t *testing.T) {
	for _, limit := range everyKind {
		s := newSubject(limit)
		s.take(fieldStart, 10)
		first, _ := s.take(fieldStart, 1)
		at := fieldStart + first.RetryAfter.Microseconds()
		for i := range int64(100) {
			s.take(fieldStart+i*1000, 1+i%10)
		}
		if _, taken := s.take(at-1, 1); taken {
			t.Errorf("%v: admitted before %v", limit, first.RetryAfter)
		}
		if _, taken := s.take(at, 1); !taken {
			t.Errorf("%v: refused after %v and refusals in between", limit, first.RetryAfter)
		}
	}
}

// TestLoweredLimitIsTrue: with 10 of 10 used, a limit of 4 has nothing left, and a wait that ends.
func TestLoweredLimitIsTrue(t *testing.T) {
	for i, limit := range everyKind {
		lowered := weir.MustParseLimits("4/10m", "4/10m stepwise", "4/10m fixed-window", "4/10m fixed-window anchored",
			"4/d fixed-window calendar UTC", "4/10m sliding-window", "4/10m sliding-log")[i]
		s := newSubject(limit)
		s.take(fieldStart, 10)
		s.change(lowered)
		f, taken := s.take(fieldStart, 1)
		if taken || f.Remaining != 0 || f.Limit != 4 || f.RetryAfter <= 0 || f.RetryAfter == weir.Never {
			t.Errorf("%v after 10 under %v: got taken = %v, %+v, want refused with 0 of 4 and a wait", lowered, limit, taken, f)
		}
		if _, taken := s.take(fieldStart+f.RetryAfter.Microseconds(), 1); !taken {
			t.Errorf("%v after 10 under %v: refused after %v", lowered, limit, f.RetryAfter)
		}
	}
}

// TestChangingLimitsMintsNothing: switching between two limits back and forth gives nothing back.
func TestChangingLimitsMintsNothing(t *testing.T) {
	for _, a := range everyKind {
		for _, b := range everyKind {
			s := newSubject(a)
			got := 0
			for i := range 100 {
				s.change([]weir.Limit{a, b}[i%2])
				got += s.admits(1, func(int) int64 { return fieldStart })
			}
			if got != 10 {
				t.Errorf("100 takes, by turns under %v and %v: got %d admitted, want 10", a, b, got)
			}
		}
	}
}

// TestEdgesOfTime: the first and the last instants that the arithmetic knows.
func TestEdgesOfTime(t *testing.T) {
	for _, limit := range append(everyKind, weir.MustParseLimits("1/36500d", "1/36500d sliding-window", "5/year")...) {
		for _, now := range []int64{0, 1, 1<<53 - 2, 1<<53 - 1} {
			s := newSubject(limit)
			quota := s.spec.Quota
			if f, taken := s.take(now, quota); !taken || f.Remaining != 0 || f.ResetAfter <= 0 {
				t.Errorf("%v at %d: take %d: got taken = %v, %+v", limit, now, quota, taken, f)
			}
			if f, taken := s.take(now, 1); taken || f.RetryAfter <= 0 {
				t.Errorf("%v at %d: take 1 of 0: got taken = %v, %+v", limit, now, taken, f)
			}
		}
	}
}

// TestDayLaterSlidingWindowStillCounts: a full window is not forgotten with the window it was in.
func TestDayLaterSlidingWindowStillCounts(t *testing.T) {
	s := newSubject(weir.MustParseLimit("110000/d sliding-window"))
	s.take(fieldStart, 110_000)
	f, _ := s.take(fieldStart+86_401e6, 110_000)
	if got := fmt.Sprint(f.Remaining); got != "2" {
		t.Errorf("a day and a second after all of it: got %s remaining, want 2", got)
	}
}
