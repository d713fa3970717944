package algo

import (
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
)

// calendar divides time into the units of a zone. It remembers the last unit it was asked for, because finding one
// takes longer than all the rest of a decision.
type calendar struct {
	unit weir.Calendar
	zone *time.Location
	last atomic.Pointer[span]
}

// span is the time [start, end).
type span struct{ start, end int64 }

// window returns the unit [start, end) that holds t.
func (c *calendar) window(t int64) (start, end int64) {
	if w := c.last.Load(); w != nil && w.start <= t && t < w.end {
		return w.start, w.end
	}
	start, end = CalendarWindow(c.unit, c.zone, t)
	c.last.Store(&span{start, end})
	return start, end
}

// CalendarWindow returns the calendar unit [start, end) of zone that holds t, in microseconds of the Unix epoch.
//
// A unit starts at the first instant of its first day, which is not midnight where the clocks skip midnight. Where
// they are set back across midnight a date comes twice; the loops put t into the unit that holds it in real time.
func CalendarWindow(unit weir.Calendar, zone *time.Location, t int64) (start, end int64) {
	at := time.UnixMicro(t).In(zone)
	k := 0
	start, end = unitStart(unit, at, k), unitStart(unit, at, k+1)
	for start > t {
		k--
		start, end = unitStart(unit, at, k), start
	}
	for end <= t {
		k++
		start, end = end, unitStart(unit, at, k+1)
	}
	return start, end
}

// unitStart returns the start of the unit that is k units after the one of at's date.
func unitStart(unit weir.Calendar, at time.Time, k int) int64 {
	y, m, d := at.Date()
	switch unit {
	case weir.Week:
		sinceMonday := (int(at.Weekday()) + 6) % 7
		d += 7*k - sinceMonday
	case weir.Month:
		m, d = m+time.Month(k), 1
	case weir.Year:
		y, m, d = y+k, time.January, 1
	default:
		d += k
	}
	return dayStart(y, m, d, at.Location())
}

// dayStart returns the first instant of a date. Where midnight does not exist time.Date answers an instant before
// the gap or after it; before it, the day starts where the gap does.
func dayStart(y int, m time.Month, d int, zone *time.Location) int64 {
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	want := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	ty, tm, td := t.Date()
	if time.Date(ty, tm, td, 0, 0, 0, 0, time.UTC).Before(want) {
		_, t = t.ZoneBounds()
	} else if t.Hour() != 0 || t.Minute() != 0 {
		t, _ = t.ZoneBounds()
	}
	return firstMidnight(t).UnixMicro()
}

// firstMidnight returns the earlier of two midnights where the clocks are set back onto or over t.
func firstMidnight(t time.Time) time.Time {
	change, _ := t.ZoneBounds()
	if change.IsZero() {
		return t
	}
	_, after := t.Zone()
	_, before := change.Add(-time.Second).Zone()
	earlier := t.Add(time.Duration(after-before) * time.Second)
	if after < before && earlier.Before(change) {
		return earlier
	}
	return t
}
