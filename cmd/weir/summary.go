package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/proxy"
)

// summary writes lines about what happened since the last one. The zero value starts from nothing.
type summary struct {
	// Shadow says that nothing is refused, only counted.
	Shadow bool
	// Unlimited says that there are no limits: there is nothing to say of them.
	Unlimited bool
	// Shared says that the keys are in a store that knows no number of them.
	Shared bool

	last proxy.Counts
	at   time.Time
}

// start sets what the first line counts from.
func (s *summary) start(now time.Time, c proxy.Counts) { s.at, s.last = now, c }

// line returns the line for now: rates since the last line, and totals.
//
//	12:00:01  allowed 812/s  refused 188/s  upstream errors 0  keys 42
func (s *summary) line(now time.Time, c proxy.Counts) string {
	elapsed := now.Sub(s.at).Seconds()
	rate := func(now, before uint64) string {
		if elapsed <= 0 {
			return "0/s"
		}
		return fmt.Sprintf("%.0f/s", math.Round(float64(now-before)/elapsed))
	}
	var b strings.Builder
	b.WriteString(now.Format("15:04:05"))
	switch {
	case s.Unlimited:
		b.WriteString("  forwarded " + rate(c.Allowed, s.last.Allowed))
	case s.Shadow:
		b.WriteString("  allowed " + rate(c.Allowed, s.last.Allowed) + "  would refuse " + rate(c.Refused, s.last.Refused))
	default:
		b.WriteString("  allowed " + rate(c.Allowed, s.last.Allowed) + "  refused " + rate(c.Refused, s.last.Refused))
	}
	fmt.Fprintf(&b, "  upstream errors %d", c.UpstreamErrors)
	if !s.Unlimited && !s.Shared {
		fmt.Fprintf(&b, "  keys %d", c.Keys)
	}
	if c.LostLines > 0 {
		fmt.Fprintf(&b, "  log lines lost %d", c.LostLines)
	}
	s.start(now, c)
	return b.String()
}
