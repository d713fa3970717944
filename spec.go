package weir

import (
	"fmt"
	"math/bits"
	"reflect"
	"strconv"
	"sync"
	"time"
)

// Algorithm names how a [Spec] is decided.
type Algorithm uint8

// The algorithms. A leaky bucket is a smooth bucket.
const (
	SmoothBucket   Algorithm = iota + 1 // TokenBucket, LeakyBucket
	StepwiseBucket                      // TokenBucket with Stepwise
	AlignedWindow                       // FixedWindow
	AnchoredWindow                      // FixedWindow with Anchored
	CalendarWindow                      // FixedWindow with Calendar
	TwoWindows                          // SlidingWindow
	Log                                 // SlidingLog
)

// Spec is a validated limit reduced to the integers that stores compute with. Stores read it, [New] makes it.
// It is comparable; two limits with the same Spec are decided alike.
type Spec struct {
	Algorithm Algorithm
	Calendar  Calendar       // CalendarWindow only
	Quota     int64          // capacity or limit, 1 to MaxQuota
	Refill    int64          // buckets only: tokens per Period; for a smooth bucket reduced with Period by their gcd
	Period    int64          // microseconds: the bucket's interval or the window; 0 for a CalendarWindow
	Zone      *time.Location // CalendarWindow only; the same pointer for the same zone name
}

const (
	maxExact      = MaxQuota
	maxPeriodUsec = int64(MaxPeriod / time.Microsecond)
)

// SpecOf validates l and reduces it. An error is a [LimitError].
func SpecOf(l Limit) (Spec, error) {
	if isNil(l) {
		return Spec{}, &LimitError{Limit: "nil", Field: "limit", Value: "nil", Problem: "is no limit", Remedy: `give one, such as weir.MustParseLimit("10/s")`}
	}
	return l.spec()
}

// isNil says whether l has no value to call methods on. Pointers to the limits are limits too.
func isNil(l Limit) bool {
	v := reflect.ValueOf(l)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Limit returns a limit whose spec is s. It may be written otherwise than the one that s was made from: 10/s for
// 600/m with the same burst, and never a leaky bucket. The zero Spec has no limit: nil.
func (s Spec) Limit() Limit {
	period := time.Duration(s.Period) * time.Microsecond
	switch s.Algorithm {
	case SmoothBucket:
		// The reduced period may be shorter than any that can be written.
		k := int64(1)
		if period < MinPeriod {
			k = int64(MinPeriod / period)
			k += int64(min(1, MinPeriod%period))
		}
		return TokenBucket{Capacity: s.Quota, Refill: s.Refill * k, Interval: period * time.Duration(k)}
	case StepwiseBucket:
		return TokenBucket{Capacity: s.Quota, Refill: s.Refill, Interval: period, Stepwise: true}
	case AlignedWindow, AnchoredWindow:
		return FixedWindow{Limit: s.Quota, Window: period, Anchored: s.Algorithm == AnchoredWindow}
	case CalendarWindow:
		return FixedWindow{Limit: s.Quota, Calendar: s.Calendar, Zone: s.Zone.String()}
	case TwoWindows:
		return SlidingWindow{Limit: s.Quota, Window: period}
	case Log:
		return SlidingLog{Limit: s.Quota, Window: period, Large: s.Quota > MaxLog}
	}
	return nil
}

func (l TokenBucket) spec() (Spec, error) {
	return bucketSpec(l, "refill", l.Capacity, l.Refill, l.Interval, l.Stepwise)
}

func (l LeakyBucket) spec() (Spec, error) {
	return bucketSpec(l, "leak", l.Capacity, l.Leak, l.Interval, false)
}

func bucketSpec(l Limit, rateField string, capacity, refill int64, interval time.Duration, stepwise bool) (Spec, error) {
	if err := checkCount(l, "capacity", capacity, MaxQuota); err != nil {
		return Spec{}, err
	}
	if err := checkCount(l, rateField, refill, MaxQuota); err != nil {
		return Spec{}, err
	}
	period, err := checkPeriod(l, "interval", interval)
	if err != nil {
		return Spec{}, err
	}
	s := Spec{Algorithm: StepwiseBucket, Quota: capacity, Refill: refill, Period: period}
	fill := mulDivCeil(capacity, period, refill)
	if stepwise {
		fill = mulDivCeil((capacity-1)/refill+1, period, 1)
	} else {
		g := gcd(refill, period)
		s.Algorithm, s.Refill, s.Period = SmoothBucket, refill/g, period/g
		if most := maxExact / s.Period; capacity > most {
			return Spec{}, &LimitError{Limit: l.String(), Field: "capacity", Value: itoa(capacity),
				Problem: fmt.Sprintf("is above %d, where arithmetic in %dths of a token stops being exact", most, s.Period),
				Remedy:  fmt.Sprintf("use a smaller burst, or a rounder %s, such as 1000000/d for 999983/d", rateField)}
		}
	}
	if fill > maxPeriodUsec {
		return Spec{}, &LimitError{Limit: l.String(), Field: "capacity", Value: itoa(capacity),
			Problem: "takes more than 100 years to come back at this rate", Remedy: "use a smaller capacity or a faster rate"}
	}
	return s, nil
}

func (l FixedWindow) spec() (Spec, error) {
	if err := checkCount(l, "limit", l.Limit, MaxQuota); err != nil {
		return Spec{}, err
	}
	if l.Calendar == NoCalendar {
		if l.Zone != "" {
			return Spec{}, &LimitError{Limit: l.String(), Field: "zone", Value: strconv.Quote(l.Zone),
				Problem: "needs a calendar window", Remedy: "set the calendar to day, week, month or year, or leave the zone out"}
		}
		period, err := checkPeriod(l, "window", l.Window)
		if err != nil {
			return Spec{}, err
		}
		s := Spec{Algorithm: AlignedWindow, Quota: l.Limit, Period: period}
		if l.Anchored {
			s.Algorithm = AnchoredWindow
		}
		return s, nil
	}
	return l.calendarSpec()
}

func (l FixedWindow) calendarSpec() (Spec, error) {
	switch {
	case l.Calendar > Year:
		return Spec{}, &LimitError{Limit: l.String(), Field: "calendar", Value: l.Calendar.String(),
			Problem: "is no calendar unit", Remedy: "use weir.Day, weir.Week, weir.Month or weir.Year"}
	case l.Window != 0:
		return Spec{}, &LimitError{Limit: l.String(), Field: "window", Value: l.Window.String(),
			Problem: "contradicts the calendar", Remedy: "leave the window out: the calendar gives its length"}
	case l.Anchored:
		return Spec{}, &LimitError{Limit: l.String(), Field: "anchored", Value: "true",
			Problem: "contradicts the calendar", Remedy: "drop one of them: a calendar window starts with the calendar, an anchored one with the first request"}
	case l.Zone == "":
		return Spec{}, &LimitError{Limit: l.String(), Field: "zone", Value: `""`,
			Problem: "is empty, and a calendar needs to know whose midnight", Remedy: "name an IANA zone such as UTC or Europe/Berlin"}
	}
	zone, err := loadZone(l.Zone)
	if err != nil {
		return Spec{}, &LimitError{Limit: l.String(), Field: "zone", Value: strconv.Quote(l.Zone),
			Problem: "is not known here", Remedy: "use an IANA name such as Europe/Berlin or UTC, and import time/tzdata where the system has no zone files"}
	}
	return Spec{Algorithm: CalendarWindow, Calendar: l.Calendar, Quota: l.Limit, Zone: zone}, nil
}

func (l SlidingWindow) spec() (Spec, error) {
	return windowSpec(l, TwoWindows, l.Limit, MaxSlidingWindow, l.Window)
}

func (l SlidingLog) spec() (Spec, error) {
	most := int64(MaxLog)
	if l.Large {
		most = MaxLargeLog
	} else if l.Limit > MaxLog {
		return Spec{}, &LimitError{Limit: l.String(), Field: "limit", Value: itoa(l.Limit),
			Problem: fmt.Sprintf("is above %d, and a log keeps an entry for each request", MaxLog),
			Remedy:  fmt.Sprintf("use the sliding window, which needs two numbers per key, or accept the cost with Large (the word large) up to %d", MaxLargeLog)}
	}
	return windowSpec(l, Log, l.Limit, most, l.Window)
}

func windowSpec(l Limit, a Algorithm, limit, most int64, window time.Duration) (Spec, error) {
	if err := checkCount(l, "limit", limit, most); err != nil {
		return Spec{}, err
	}
	period, err := checkPeriod(l, "window", window)
	if err != nil {
		return Spec{}, err
	}
	return Spec{Algorithm: a, Quota: limit, Period: period}, nil
}

func checkCount(l Limit, field string, n, most int64) error {
	switch {
	case n < 1:
		return &LimitError{Limit: l.String(), Field: field, Value: itoa(n), Problem: "is below 1",
			Remedy: fmt.Sprintf("use 1 to %d; to refuse everything do so in your own code, to allow everything use no limit", most)}
	case n > most:
		return &LimitError{Limit: l.String(), Field: field, Value: itoa(n), Problem: fmt.Sprintf("is above %d", most),
			Remedy: fmt.Sprintf("use 1 to %d", most)}
	}
	return nil
}

func checkPeriod(l Limit, field string, d time.Duration) (int64, error) {
	switch {
	case d < MinPeriod:
		return 0, &LimitError{Limit: l.String(), Field: field, Value: d.String(), Problem: "is below 1ms",
			Remedy: "use a longer one with more units: 1000/s instead of 1 per 1ms or less"}
	case d > MaxPeriod:
		return 0, &LimitError{Limit: l.String(), Field: field, Value: d.String(), Problem: "is above 100 years", Remedy: "use a shorter one"}
	case d%time.Microsecond != 0:
		return 0, &LimitError{Limit: l.String(), Field: field, Value: d.String(), Problem: "is not a whole number of microseconds",
			Remedy: fmt.Sprintf("round it, for instance to %s", d.Round(time.Microsecond))}
	}
	return int64(d / time.Microsecond), nil
}

// zones holds one *time.Location per name, so that equal limits have equal specs. Only names that exist enter it:
// it cannot grow beyond the zone database.
var zones sync.Map

func loadZone(name string) (*time.Location, error) {
	if z, ok := zones.Load(name); ok {
		return z.(*time.Location), nil
	}
	if name == "Local" {
		return nil, fmt.Errorf("zone Local means another thing on each machine")
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	z, _ := zones.LoadOrStore(name, loc)
	return z.(*time.Location), nil
}

// mulDivCeil returns a x b / c rounded up, or the largest int64 when that is too small for it. All are positive.
func mulDivCeil(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c-1), 0)
	hi += carry
	if hi >= uint64(c) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, 1<<63-1))
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
