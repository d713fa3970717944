package weir_test

import (
	"errors"
	"math"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests do not depend on the machine

	"github.com/weirhq/weir"
	"pgregory.net/rapid"
)

// drawLimit draws a valid limit of any kind.
func drawLimit(t *rapid.T) weir.Limit {
	valid := func(l weir.Limit) bool {
		_, err := weir.SpecOf(l)
		return err == nil
	}
	return rapid.Custom(drawCandidate).Filter(valid).Draw(t, "limit")
}

// drawCandidate draws a limit whose numbers may not go together.
func drawCandidate(t *rapid.T) weir.Limit {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	quota := rapid.OneOf(rapid.Int64Range(1, 1000), rapid.Int64Range(1, weir.MaxQuota))
	periods := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour, 168 * time.Hour, weir.MaxPeriod}),
		rapid.Map(rapid.Int64Range(1, 400), func(n int64) time.Duration { return time.Duration(n) * time.Hour }),
		rapid.Map(rapid.Int64Range(1000, int64(weir.MaxPeriod/time.Microsecond)), func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }))
	n, rate, period := quota.Draw(t, "n"), quota.Draw(t, "rate"), periods.Draw(t, "period")
	var limit weir.Limit
	switch kind {
	case 0:
		limit = weir.TokenBucket{Capacity: n, Refill: rate, Interval: period, Stepwise: rapid.Bool().Draw(t, "stepwise")}
	case 1:
		limit = weir.LeakyBucket{Capacity: n, Leak: rate, Interval: period}
	case 2:
		limit = weir.FixedWindow{Limit: n, Window: period, Anchored: rapid.Bool().Draw(t, "anchored")}
	case 3:
		limit = weir.FixedWindow{Limit: n,
			Calendar: rapid.SampledFrom([]weir.Calendar{weir.Day, weir.Week, weir.Month, weir.Year}).Draw(t, "calendar"),
			Zone:     rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/Argentina/ComodRivadavia", "Etc/GMT+12", "GMT0"}).Draw(t, "zone")}
	case 4:
		limit = weir.SlidingWindow{Limit: n, Window: period}
	case 5:
		limit = weir.SlidingLog{Limit: n, Window: period}
	case 6:
		limit = weir.SlidingLog{Limit: n, Window: period, Large: true}
	}
	return limit
}

func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := drawLimit(t)
		got, err := weir.ParseLimit(limit.String())
		if err != nil || got != limit {
			t.Fatalf("ParseLimit(%q) = %+v, %v, want %+v", limit.String(), got, err, limit)
		}
	})
}

func TestSpecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := drawLimit(t)
		spec, err := weir.SpecOf(limit)
		if err != nil {
			t.Fatal(err)
		}
		back := spec.Limit()
		if got, err := weir.SpecOf(back); err != nil || got != spec {
			t.Fatalf("SpecOf(%+v) = %+v; its limit is %+v, whose spec is %+v, %v", limit, spec, back, got, err)
		}
		if again, err := weir.ParseLimit(back.String()); err != nil || again != back {
			t.Fatalf("ParseLimit(%q) = %+v, %v, want %+v", back.String(), again, err, back)
		}
	})
}

func TestSpecOf(t *testing.T) {
	berlin, err := weir.SpecOf(weir.FixedWindow{Limit: 1, Calendar: weir.Day, Zone: "Europe/Berlin"})
	if err != nil || berlin.Zone == nil || berlin.Zone.String() != "Europe/Berlin" {
		t.Fatalf("SpecOf: got %+v, %v, want the zone of Berlin", berlin, err)
	}
	for _, c := range []struct {
		limit weir.Limit
		want  weir.Spec
	}{
		{weir.TokenBucket{Capacity: 20, Refill: 10, Interval: time.Second}, weir.Spec{Algorithm: weir.SmoothBucket, Quota: 20, Refill: 1, Period: 100_000}},
		{weir.TokenBucket{Capacity: 5, Refill: 600, Interval: time.Minute}, weir.Spec{Algorithm: weir.SmoothBucket, Quota: 5, Refill: 1, Period: 100_000}},
		{weir.LeakyBucket{Capacity: 20, Leak: 3, Interval: time.Second}, weir.Spec{Algorithm: weir.SmoothBucket, Quota: 20, Refill: 3, Period: 1_000_000}},
		{weir.TokenBucket{Capacity: 20, Refill: 10, Interval: time.Second, Stepwise: true},
			weir.Spec{Algorithm: weir.StepwiseBucket, Quota: 20, Refill: 10, Period: 1_000_000}},
		{weir.FixedWindow{Limit: 7, Window: time.Minute}, weir.Spec{Algorithm: weir.AlignedWindow, Quota: 7, Period: 60_000_000}},
		{weir.FixedWindow{Limit: 7, Window: time.Minute, Anchored: true}, weir.Spec{Algorithm: weir.AnchoredWindow, Quota: 7, Period: 60_000_000}},
		{weir.FixedWindow{Limit: 7, Calendar: weir.Month, Zone: "Europe/Berlin"},
			weir.Spec{Algorithm: weir.CalendarWindow, Calendar: weir.Month, Quota: 7, Zone: berlin.Zone}},
		{weir.SlidingWindow{Limit: 7, Window: time.Minute}, weir.Spec{Algorithm: weir.TwoWindows, Quota: 7, Period: 60_000_000}},
		{weir.SlidingLog{Limit: 7, Window: time.Minute}, weir.Spec{Algorithm: weir.Log, Quota: 7, Period: 60_000_000}},
	} {
		if got, err := weir.SpecOf(c.limit); err != nil || got != c.want {
			t.Errorf("SpecOf(%+v) = %+v, %v, want %+v", c.limit, got, err, c.want)
		}
	}
	if got := (weir.Spec{}).Limit(); got != nil {
		t.Errorf("the limit of a zero Spec: got %v, want nil", got)
	}
}

// TestExtremesAreExact: the largest and the smallest of everything is accepted, and the next is not.
func TestExtremesAreExact(t *testing.T) {
	for _, c := range []struct {
		limit weir.Limit
		valid bool
	}{
		{weir.TokenBucket{Capacity: 1, Refill: 1, Interval: 365 * 24 * time.Hour}, true},                       // 1 a year
		{weir.TokenBucket{Capacity: 10_000_000, Refill: 10_000_000, Interval: time.Second}, true},              // 10 a microsecond
		{weir.TokenBucket{Capacity: weir.MaxQuota, Refill: 1e12, Interval: time.Second}, true},                 // a unit of a microsecond
		{weir.TokenBucket{Capacity: weir.MaxQuota, Refill: 1e12 + 1, Interval: time.Second}, false},            // a unit of a millionth of it
		{weir.TokenBucket{Capacity: weir.MaxQuota / 1_000_000, Refill: 1e12 + 1, Interval: time.Second}, true}, // 2^53 / 10^6
		{weir.TokenBucket{Capacity: weir.MaxQuota/1_000_000 + 1, Refill: 1e12 + 1, Interval: time.Second}, false},
		{weir.TokenBucket{Capacity: weir.MaxQuota, Refill: weir.MaxQuota, Interval: time.Second, Stepwise: true}, true},
		{weir.TokenBucket{Capacity: 1, Refill: 1, Interval: weir.MaxPeriod}, true},
		{weir.TokenBucket{Capacity: 2, Refill: 1, Interval: weir.MaxPeriod}, false}, // full after 200 years
		{weir.TokenBucket{Capacity: 2, Refill: 1, Interval: weir.MaxPeriod / 2}, true},
		{weir.TokenBucket{Capacity: 1, Refill: 2, Interval: weir.MaxPeriod, Stepwise: true}, true},
		{weir.TokenBucket{Capacity: 3, Refill: 2, Interval: weir.MaxPeriod, Stepwise: true}, false}, // two steps
		{weir.TokenBucket{Capacity: 1, Refill: 1, Interval: weir.MinPeriod}, true},
		{weir.TokenBucket{Capacity: 1, Refill: 1, Interval: weir.MinPeriod - time.Microsecond}, false},
		{weir.TokenBucket{Capacity: 1, Refill: 1, Interval: weir.MaxPeriod + time.Microsecond}, false},
		{weir.LeakyBucket{Capacity: weir.MaxQuota + 1, Leak: 1e12, Interval: time.Second}, false},
		{weir.LeakyBucket{Capacity: 1, Leak: weir.MaxQuota + 1, Interval: time.Second}, false},
		{weir.FixedWindow{Limit: weir.MaxQuota, Window: weir.MaxPeriod}, true},
		{weir.FixedWindow{Limit: weir.MaxQuota + 1, Window: time.Second}, false},
		{weir.FixedWindow{Limit: weir.MaxQuota, Calendar: weir.Year, Zone: "UTC"}, true},
		{weir.FixedWindow{Limit: 1, Window: math.MaxInt64}, false},
		{weir.FixedWindow{Limit: 1, Window: math.MinInt64}, false},
		{weir.SlidingWindow{Limit: weir.MaxSlidingWindow, Window: weir.MaxPeriod}, true},
		{weir.SlidingWindow{Limit: weir.MaxSlidingWindow + 1, Window: time.Second}, false},
		{weir.SlidingLog{Limit: weir.MaxLog, Window: time.Second}, true},
		{weir.SlidingLog{Limit: weir.MaxLog + 1, Window: time.Second}, false},
		{weir.SlidingLog{Limit: weir.MaxLargeLog, Window: time.Second, Large: true}, true},
		{weir.SlidingLog{Limit: weir.MaxLargeLog + 1, Window: time.Second, Large: true}, false},
	} {
		_, err := weir.SpecOf(c.limit)
		if (err == nil) != c.valid {
			t.Errorf("SpecOf(%+v): got error %v, want valid = %v", c.limit, err, c.valid)
		}
		if err != nil && !errors.Is(err, weir.ErrInvalidLimit) {
			t.Errorf("SpecOf(%+v): got error %v, want one that is ErrInvalidLimit", c.limit, err)
		}
	}
}

func TestCalendarString(t *testing.T) {
	for calendar, want := range map[weir.Calendar]string{
		weir.NoCalendar: "none", weir.Day: "d", weir.Week: "w", weir.Month: "month", weir.Year: "year", weir.Year + 1: "Calendar(5)",
	} {
		if got := calendar.String(); got != want {
			t.Errorf("Calendar(%d).String() = %q, want %q", uint8(calendar), got, want)
		}
	}
}

// TestLimitMessages holds the messages about limits that are written in Go.
func TestLimitMessages(t *testing.T) {
	for _, c := range []struct {
		limit weir.Limit
		want  string
	}{
		{nil, `weir: limit "nil": limit nil is no limit; give one, such as weir.MustParseLimit("10/s")`},
		{(*weir.SlidingLog)(nil), `weir: limit "nil": limit nil is no limit; give one, such as weir.MustParseLimit("10/s")`},
		{weir.TokenBucket{}, `weir: limit "0/0s": capacity 0 is below 1; use 1 to 9007199254740991; to refuse everything do so in your own code, to allow everything use no limit`},
		{weir.TokenBucket{Capacity: 1}, `weir: limit "0/0s burst 1": refill 0 is below 1; use 1 to 9007199254740991; to refuse everything do so in your own code, to allow everything use no limit`},
		{weir.TokenBucket{Capacity: 1, Refill: 1}, `weir: limit "1/0s": interval 0s is below 1ms; use a longer one with more units: 1000/s instead of 1 per 1ms or less`},
		{weir.TokenBucket{Capacity: 1, Refill: -1, Interval: time.Second}, `weir: limit "-1/s burst 1": refill -1 is below 1; use 1 to 9007199254740991; to refuse everything do so in your own code, to allow everything use no limit`},
		{weir.LeakyBucket{Capacity: 1, Interval: time.Second}, `weir: limit "0/s burst 1 leaky-bucket": leak 0 is below 1; use 1 to 9007199254740991; to refuse everything do so in your own code, to allow everything use no limit`},
		{weir.LeakyBucket{Capacity: weir.MaxQuota + 1, Leak: 1, Interval: time.Second}, `weir: limit "1/s burst 9007199254740992 leaky-bucket": capacity 9007199254740992 is above 9007199254740991; use 1 to 9007199254740991`},
		{weir.LeakyBucket{Capacity: 1, Leak: 1, Interval: time.Second + 1}, `weir: limit "1/1.000000001s leaky-bucket": interval 1.000000001s is not a whole number of microseconds; round it, for instance to 1s`},
		{weir.LeakyBucket{Capacity: 10000000000, Leak: 7, Interval: time.Second}, `weir: limit "7/s burst 10000000000 leaky-bucket": capacity 10000000000 is above 9007199254, where arithmetic in 1000000ths of a token stops being exact; use a smaller burst, or a rounder leak, such as 1000000/d for 999983/d`},
		{weir.FixedWindow{}, `weir: limit "0/0s fixed-window": limit 0 is below 1; use 1 to 9007199254740991; to refuse everything do so in your own code, to allow everything use no limit`},
		{weir.FixedWindow{Limit: 1}, `weir: limit "1/0s fixed-window": window 0s is below 1ms; use a longer one with more units: 1000/s instead of 1 per 1ms or less`},
		{weir.FixedWindow{Limit: 1, Window: time.Second, Zone: "UTC"}, `weir: limit "1/s fixed-window": zone "UTC" needs a calendar window; set the calendar to day, week, month or year, or leave the zone out`},
		{weir.FixedWindow{Limit: 1, Calendar: 0x9, Zone: "UTC"}, `weir: limit "1/Calendar(9) fixed-window calendar UTC": calendar Calendar(9) is no calendar unit; use weir.Day, weir.Week, weir.Month or weir.Year`},
		{weir.FixedWindow{Limit: 1, Calendar: weir.Day}, `weir: limit "1/d fixed-window calendar": zone "" is empty, and a calendar needs to know whose midnight; name an IANA zone such as UTC or Europe/Berlin`},
		{weir.FixedWindow{Limit: 1, Window: time.Hour, Calendar: weir.Day, Zone: "UTC"}, `weir: limit "1/d fixed-window calendar UTC": window 1h0m0s contradicts the calendar; leave the window out: the calendar gives its length`},
		{weir.FixedWindow{Limit: 1, Calendar: weir.Day, Zone: "UTC", Anchored: true}, `weir: limit "1/d fixed-window calendar UTC": anchored true contradicts the calendar; drop one of them: a calendar window starts with the calendar, an anchored one with the first request`},
		{weir.FixedWindow{Limit: 1, Calendar: weir.Day, Zone: "Atlantis"}, `weir: limit "1/d fixed-window calendar Atlantis": zone "Atlantis" is not known here; use an IANA name such as Europe/Berlin or UTC, and import time/tzdata where the system has no zone files`},
		{weir.SlidingWindow{Limit: 1, Window: 2 * weir.MaxPeriod}, `weir: limit "1/73000d sliding-window": window 1752000h0m0s is above 100 years; use a shorter one`},
		{weir.SlidingWindow{Limit: -5, Window: time.Second}, `weir: limit "-5/s sliding-window": limit -5 is below 1; use 1 to 4398046511103; to refuse everything do so in your own code, to allow everything use no limit`},
		{weir.SlidingLog{Limit: 20000, Window: time.Second}, `weir: limit "20000/s sliding-log": limit 20000 is above 10000, and a log keeps an entry for each request; use the sliding window, which needs two numbers per key, or accept the cost with Large (the word large) up to 1000000`},
		{weir.SlidingLog{Limit: 2000000, Window: time.Second, Large: true}, `weir: limit "2000000/s sliding-log large": limit 2000000 is above 1000000; use 1 to 1000000`},
	} {
		_, err := weir.SpecOf(c.limit)
		if err == nil || err.Error() != c.want {
			t.Errorf("SpecOf(%+v):\n got %v\nwant %s", c.limit, err, c.want)
		}
	}
}
