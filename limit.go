package weir

import (
	"fmt"
	"strings"
	"time"
)

// MaxQuota is the largest capacity, limit or cost: 2^53-1, the largest integer that a Lua number holds exactly.
const MaxQuota = 1<<53 - 1

// MaxSlidingWindow is the largest limit of a [SlidingWindow]: 2^42-1, so that both its counters and their window fit two words.
const MaxSlidingWindow = 1<<42 - 1

// MaxLog is the largest limit of a [SlidingLog] that does not set Large; MaxLargeLog of one that does.
const (
	MaxLog      = 10_000
	MaxLargeLog = 1_000_000
)

// MinPeriod and MaxPeriod bound intervals and windows. A bucket must also be full again within MaxPeriod.
const (
	MinPeriod = time.Millisecond
	MaxPeriod = 100 * 365 * 24 * time.Hour
)

// Limit is an algorithm with its numbers. It is one of [TokenBucket], [LeakyBucket], [FixedWindow],
// [SlidingWindow] and [SlidingLog]; no other package can add one, so that every store knows them all.
//
// Limits are values: comparable, immutable, safe to share. [ParseLimit] reads the text that String writes.
type Limit interface {
	// String returns the limit in the grammar of [ParseLimit].
	String() string

	// spec validates the limit and reduces it to integers.
	spec() (Spec, error)
}

// TokenBucket holds up to Capacity tokens; a request takes its cost or is refused.
//
// Bound: in any interval T at most Capacity + Refill/Interval x T units are admitted, so that the first interval
// can see Capacity + Refill. Who needs "never more than n in any window" wants [SlidingLog].
type TokenBucket struct {
	// Capacity is the most that can be taken at once (the burst), 1 to [MaxQuota]. Required.
	Capacity int64
	// Refill is how many tokens come back per Interval, 1 to [MaxQuota]. Required.
	Refill int64
	// Interval is the time for Refill tokens, whole microseconds from [MinPeriod] to [MaxPeriod]. Required.
	Interval time.Duration
	// Stepwise gives back Refill tokens at once at the end of each whole Interval since the bucket was last full,
	// instead of continuously. The bound is then Capacity + Refill for each such end in T.
	Stepwise bool
}

// LeakyBucket polices: its level rises by the cost of each request and drains continuously; a request that would
// make it overflow is refused, not queued. It decides exactly as the smooth [TokenBucket] with the same numbers,
// seen from below.
type LeakyBucket struct {
	// Capacity is how much the bucket holds, 1 to [MaxQuota]. Required.
	Capacity int64
	// Leak is how much drains per Interval, 1 to [MaxQuota]. Required.
	Leak int64
	// Interval is the time for Leak to drain, whole microseconds from [MinPeriod] to [MaxPeriod]. Required.
	Interval time.Duration
}

// FixedWindow admits Limit units in each window.
//
// Bound: Limit per window; around the edge of two windows twice as much can pass within one window's length.
type FixedWindow struct {
	// Limit is the quota of one window, 1 to [MaxQuota]. Required.
	Limit int64
	// Window is the window's length, whole microseconds from [MinPeriod] to [MaxPeriod]. Windows are aligned to
	// the Unix epoch. Required, unless Calendar is set; then it must be zero.
	Window time.Duration
	// Calendar makes the windows the days, ISO weeks, months or years of Zone.
	Calendar Calendar
	// Zone is the IANA time zone of Calendar, such as "Europe/Berlin" or "UTC". Required with Calendar, and only then.
	Zone string
	// Anchored starts the window with the first request instead of at the epoch. Not with Calendar.
	Anchored bool
}

// SlidingWindow weighs two counters of epoch-aligned windows: the estimate is the previous window's count times
// the part of it that still overlaps the sliding window, plus the current count. A request is admitted when the
// estimate, rounded down, plus its cost is within Limit.
//
// It is an approximation: it assumes that the previous window's requests were spread evenly. Bound: at most
// 2 x Limit in any window, and about Limit for evenly spread traffic.
type SlidingWindow struct {
	// Limit is the quota of a window, 1 to [MaxSlidingWindow]. Required.
	Limit int64
	// Window is the window's length, whole microseconds from [MinPeriod] to [MaxPeriod]. Required.
	Window time.Duration
}

// SlidingLog keeps the time of each admitted request. Exact: never more than Limit units in any window.
// Costs one entry (16 bytes in memory) per admitted request of the window.
type SlidingLog struct {
	// Limit is the quota of any window, 1 to [MaxLog], or to [MaxLargeLog] with Large. Required.
	Limit int64
	// Window is the window's length, whole microseconds from [MinPeriod] to [MaxPeriod]. Required.
	Window time.Duration
	// Large accepts a Limit above [MaxLog], with what it costs in memory and time per key.
	Large bool
}

var (
	_ Limit = TokenBucket{}
	_ Limit = LeakyBucket{}
	_ Limit = FixedWindow{}
	_ Limit = SlidingWindow{}
	_ Limit = SlidingLog{}
)

// Calendar names the calendar unit of a [FixedWindow].
type Calendar uint8

// The calendar units. Days have 23 to 25 hours where the zone changes its clocks.
const (
	NoCalendar Calendar = iota // windows of a fixed length
	Day                        // from midnight to midnight
	Week                       // ISO weeks, from Monday
	Month                      // calendar months
	Year                       // calendar years
)

// String returns the unit's word in the grammar of limits.
func (c Calendar) String() string {
	switch c {
	case NoCalendar:
		return "none"
	case Day:
		return "d"
	case Week:
		return "w"
	case Month:
		return "month"
	case Year:
		return "year"
	}
	return fmt.Sprintf("Calendar(%d)", uint8(c))
}

// String returns the limit as text, such as "10/s burst 20 stepwise".
func (l TokenBucket) String() string {
	s := rateText(l.Refill, l.Interval) + burstText(l.Capacity, l.Refill)
	if l.Stepwise {
		s += " stepwise"
	}
	return s
}

// String returns the limit as text, such as "10/s burst 20 leaky-bucket".
func (l LeakyBucket) String() string {
	return rateText(l.Leak, l.Interval) + burstText(l.Capacity, l.Leak) + " leaky-bucket"
}

// String returns the limit as text, such as "1000/month fixed-window calendar Europe/Berlin".
func (l FixedWindow) String() string {
	if l.Calendar != NoCalendar {
		return strings.TrimSpace(fmt.Sprintf("%d/%s fixed-window calendar %s", l.Limit, l.Calendar, l.Zone))
	}
	s := rateText(l.Limit, l.Window) + " fixed-window"
	if l.Anchored {
		s += " anchored"
	}
	return s
}

// String returns the limit as text, such as "100/m sliding-window".
func (l SlidingWindow) String() string { return rateText(l.Limit, l.Window) + " sliding-window" }

// String returns the limit as text, such as "100/m sliding-log".
func (l SlidingLog) String() string {
	s := rateText(l.Limit, l.Window) + " sliding-log"
	if l.Large {
		s += " large"
	}
	return s
}

func rateText(n int64, period time.Duration) string {
	return fmt.Sprintf("%d/%s", n, periodText(period))
}

func burstText(capacity, n int64) string {
	if capacity == n {
		return ""
	}
	return fmt.Sprintf(" burst %d", capacity)
}
