package proxy

import (
	"testing"
	"time"
)

func TestSummaryLine(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	before := Counts{Allowed: 1000, Refused: 10}
	after := Counts{Allowed: 1812, Refused: 198, Keys: 42}
	for _, c := range []struct {
		name    string
		summary Summary
		elapsed time.Duration
		counts  Counts
		want    string
	}{
		{"a second", Summary{}, time.Second, after, "12:00:01  allowed 812/s  refused 188/s  upstream errors 0  keys 42"},
		{"a late tick", Summary{}, 2 * time.Second, after, "12:00:02  allowed 406/s  refused 94/s  upstream errors 0  keys 42"},
		{"no time", Summary{}, 0, after, "12:00:00  allowed 0/s  refused 0/s  upstream errors 0  keys 42"},
		{"shadow", Summary{Shadow: true}, time.Second, after, "12:00:01  allowed 812/s  would refuse 188/s  upstream errors 0  keys 42"},
		{"no limits", Summary{Unlimited: true}, time.Second, after, "12:00:01  forwarded 812/s  upstream errors 0"},
		{"trouble", Summary{}, time.Second, Counts{Allowed: 1000, Refused: 10, UpstreamErrors: 7, LostLines: 3}, "12:00:01  allowed 0/s  refused 0/s  upstream errors 7  keys 0  log lines lost 3"},
	} {
		c.summary.Start(start, before)
		if got := c.summary.Line(start.Add(c.elapsed), c.counts); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestSummaryGoesOnFromTheLastLine(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var s Summary
	s.Start(now, Counts{})
	s.Line(now.Add(time.Second), Counts{Allowed: 10})
	got := s.Line(now.Add(2*time.Second), Counts{Allowed: 13})
	if want := "12:00:02  allowed 3/s  refused 0/s  upstream errors 0  keys 0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
