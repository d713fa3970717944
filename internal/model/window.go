package model

import (
	"math/big"
	"time"

	"github.com/weirhq/weir"
)

// fixed counts in windows that stand on the time line: of one length from the epoch, or of a calendar.
type fixed struct {
	limit  int64
	bounds func(t int64) (start, end int64) // the window that holds t
}

func newFixed(l weir.FixedWindow) fixed {
	if l.Calendar != weir.NoCalendar {
		zone, err := time.LoadLocation(l.Zone)
		if err != nil {
			panic(err)
		}
		return fixed{l.Limit, func(t int64) (start, end int64) { return unitBounds(l.Calendar, zone, t) }}
	}
	length := l.Window.Microseconds()
	return fixed{l.Limit, func(t int64) (start, end int64) { return t / length * length, (t/length + 1) * length }}
}

func (w fixed) quota() int64 { return w.limit }

func (w fixed) settle(s *state, now int64) *state {
	if s == nil {
		return nil
	}
	start, end := w.bounds(s.at)
	if now >= end || s.at-now > end-start {
		return nil
	}
	return s
}

func (w fixed) inUse(s *state, _ int64) *big.Rat { return integer(s.count) }

func (w fixed) charge(s *state, now, n int64) *state {
	if s == nil {
		s = &state{}
	}
	return &state{at: max(s.at, now), count: min(s.count+n, most)}
}

func (w fixed) refund(s *state, _, n int64) *state {
	if n >= s.count {
		return nil
	}
	return &state{at: s.at, count: s.count - n}
}

// anchored counts in windows that start with the first charge.
type anchored struct{ limit, length int64 }

func (w anchored) quota() int64 { return w.limit }

func (w anchored) settle(s *state, now int64) *state {
	if s == nil || now >= s.at+w.length || s.at-now > w.length {
		return nil
	}
	return s
}

func (w anchored) inUse(s *state, _ int64) *big.Rat { return integer(s.count) }

func (w anchored) charge(s *state, now, n int64) *state {
	if s == nil {
		s = &state{at: now}
	}
	return &state{at: s.at, count: min(s.count+n, most)}
}

func (w anchored) refund(s *state, _, n int64) *state {
	if n >= s.count {
		return nil
	}
	return &state{at: s.at, count: s.count - n}
}

// date is a day of the calendar, as the number of days since 1970-01-01.
type date int64

func dateOf(t time.Time) date {
	y, m, d := t.Date()
	return date(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// unitBounds returns the calendar unit that holds t: the last one whose first instant is not after t.
func unitBounds(unit weir.Calendar, zone *time.Location, t int64) (start, end int64) {
	first := unitStart(unit, dateOf(time.UnixMicro(t).In(zone)))
	for {
		next := unitStart(unit, first+maxUnitDays(unit))
		if end = firstInstant(next, zone); t < end {
			return firstInstant(first, zone), end
		}
		first = next // the clock was set back over midnight: the date was there before, and counts from then
	}
}

// maxUnitDays is a number of days that leads from the first day of a unit into the next one.
func maxUnitDays(unit weir.Calendar) date {
	return map[weir.Calendar]date{weir.Day: 1, weir.Week: 7, weir.Month: 31, weir.Year: 366}[unit]
}

// unitStart returns the first date of the unit that holds d.
func unitStart(unit weir.Calendar, d date) date {
	day := time.Unix(int64(d)*86400, 0).UTC()
	switch unit {
	case weir.Week:
		for day.Weekday() != time.Monday {
			day = day.AddDate(0, 0, -1)
		}
	case weir.Month:
		day = time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	case weir.Year:
		day = time.Date(day.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return dateOf(day)
}

// firstInstant returns when a clock in zone first shows the date d, or a later one where d was skipped. It walks over
// the stretches of time in which the zone keeps one offset.
func firstInstant(d date, zone *time.Location) int64 {
	from := time.Unix(int64(d-2)*86400, 0).In(zone) // no offset is as large as two days
	for {
		_, offset := from.Zone()
		midnight := time.Unix(int64(d)*86400-int64(offset), 0)
		_, end := from.ZoneBounds()
		if !end.IsZero() && !end.After(from) {
			end = from.Add(time.Hour) // on the last day of a leap year the library may name an end that has passed
		}
		if midnight.Before(from) {
			midnight = from
		}
		if end.IsZero() || midnight.Before(end) {
			return midnight.UnixMicro()
		}
		from = end
	}
}
