package script

import (
	_ "embed"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/algo"
)

//go:embed calendar.lua
var calendarSource string

// appendCalendar appends the text of a calendar window. Its state is four numbers.
func appendCalendar(text []byte, s *weir.Spec) []byte {
	text = append(appendLimit(text, 'c', s.Quota), ',', calendarLetters[s.Calendar], ',')
	return append(text, s.Zone.String()...)
}

var calendarLetters = [...]byte{weir.Day: 'd', weir.Week: 'w', weir.Month: 'm', weir.Year: 'y'}

// bounds are what the script is told of calendars: for each of a scope's calendar windows, where the one that holds a
// time starts and ends, with the one before and the one after it.
type bounds struct {
	text        string
	from, until int64 // the times for which the text is the same
}

// boundsAt returns the bounds around t. They are remembered, for finding them takes longer than all else that is done to
// ask the script.
func (s *Scope) boundsAt(t int64) string {
	if len(s.calendars) == 0 {
		return ""
	}
	if b := s.bounds.Load(); b != nil && b.from <= t && t < b.until {
		return b.text
	}
	b := &bounds{from: 0, until: maxExact}
	var text []byte
	for _, spec := range s.calendars {
		start, end := algo.CalendarWindow(spec.Calendar, spec.Zone, t)
		before, _ := algo.CalendarWindow(spec.Calendar, spec.Zone, start-1)
		_, after := algo.CalendarWindow(spec.Calendar, spec.Zone, end)
		b.from, b.until = max(b.from, start), min(b.until, end)
		for _, bound := range [...]int64{before, start, end, after} {
			// The script knows no time before 1970, and there is none in which a window that began before it matters.
			text = append(strconv.AppendInt(text, max(0, bound), 10), ',')
		}
	}
	b.text = string(text)
	s.bounds.Store(b)
	return b.text
}
