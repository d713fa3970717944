package main

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxy"
)

func TestSummaryLine(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	before := proxy.Counts{Allowed: 1000, Refused: 10}
	after := proxy.Counts{Allowed: 1812, Refused: 198, Keys: 42}
	for _, c := range []struct {
		name    string
		summary summary
		elapsed time.Duration
		counts  proxy.Counts
		want    string
	}{
		{"a second", summary{}, time.Second, after, "12:00:01  allowed 812/s  refused 188/s  upstream errors 0  keys 42"},
		{"a late tick", summary{}, 2 * time.Second, after, "12:00:02  allowed 406/s  refused 94/s  upstream errors 0  keys 42"},
		{"no time", summary{}, 0, after, "12:00:00  allowed 0/s  refused 0/s  upstream errors 0  keys 42"},
		{"shadow", summary{Shadow: true}, time.Second, after, "12:00:01  allowed 812/s  would refuse 188/s  upstream errors 0  keys 42"},
		{"no limits", summary{Unlimited: true}, time.Second, after, "12:00:01  forwarded 812/s  upstream errors 0"},
		{"a shared state", summary{Shared: true}, time.Second, after, "12:00:01  allowed 812/s  refused 188/s  upstream errors 0"},
		{"trouble", summary{}, time.Second, proxy.Counts{Allowed: 1000, Refused: 10, UpstreamErrors: 7, LostLines: 3}, "12:00:01  allowed 0/s  refused 0/s  upstream errors 7  keys 0  log lines lost 3"},
	} {
		c.summary.start(start, before)
		if got := c.summary.line(start.Add(c.elapsed), c.counts); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestSummaryGoesOnFromTheLastLine(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var s summary
	s.start(now, proxy.Counts{})
	s.line(now.Add(time.Second), proxy.Counts{Allowed: 10})
	got := s.line(now.Add(2*time.Second), proxy.Counts{Allowed: 13})
	if want := "12:00:02  allowed 3/s  refused 0/s  upstream errors 0  keys 0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
