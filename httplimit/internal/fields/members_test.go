package fields

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

func TestShape(t *testing.T) {
	for _, tt := range []struct {
		limit          string
		quota, seconds int64
	}{
		{"1/s", 1, 1},
		{"100/m", 100, 60},
		{"7/s burst 8", 8, 2},
		{"10/s burst 25 leaky-bucket", 25, 3},
		{"10/m burst 5 stepwise", 5, 60},
		{"10/m burst 20 stepwise", 20, 120},
		{"10/m burst 21 stepwise", 21, 180},
		{"3/1500ms fixed-window", 3, 2},
		{"3/1ms sliding-window", 3, 1},
		{"3/90s sliding-log", 3, 90},
		{"3/d calendar Europe/Berlin", 3, 0},
		{"3/year", 3, 0},
		{"9007199254740991/s fixed-window", weir.MaxQuota, 1},
		{"1/d burst 36500", 36500, 36500 * 86400},
		{"9007199254740991/36500d fixed-window", weir.MaxQuota, 36500 * 86400},
		{"1000000/s burst 9007199254740", 9007199254740, 9007200},
	} {
		if quota, seconds := Shape(weir.MustParseLimit(tt.limit)); quota != tt.quota || seconds != tt.seconds {
			t.Errorf("Shape(%q) = %d, %d; want %d, %d", tt.limit, quota, seconds, tt.quota, tt.seconds)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		limits []string
		want   []string
	}{
		{[]string{"1/s"}, []string{"p"}},
		{[]string{"1/s", "10/m"}, []string{"p.s", "p.m"}},
		{[]string{"1/s", "2/s burst 9", "3/s sliding-log"}, []string{"p.s", "p.s-2", "p.s-3"}},
		{[]string{"1/1500ms", "10/15m", "5/30d", "7/month", "8/year", "9/d calendar UTC"}, []string{"p.1.5s", "p.15m", "p.30d", "p.month", "p.year", "p.d"}},
	} {
		if got := Names("p", weir.MustParseLimits(tt.limits...)); !slices.Equal(got, tt.want) {
			t.Errorf("Names(p, %q) = %q, want %q", tt.limits, got, tt.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for _, tt := range []struct {
		d     time.Duration
		up    int64
		retry string
	}{
		{0, 0, "1"},
		{1, 1, "1"},
		{time.Second, 1, "1"},
		{time.Second + 1, 2, "2"},
		{weir.MaxPeriod, 3153600000, "3153600000"},
		{math.MaxInt64, 9223372037, "9223372037"},
	} {
		if up, retry := secondsUp(tt.d), RetryAfter(tt.d); up != tt.up || retry != tt.retry {
			t.Errorf("secondsUp(%v), RetryAfter = %d, %s; want %d, %s", tt.d, up, retry, tt.up, tt.retry)
		}
	}
}

func TestNumberAfter(t *testing.T) {
	for _, tt := range []struct {
		field, before string
		n             int64
		ok            bool
	}{
		{"12", "", 12, true},
		{"limit=10, remaining=7, reset=3", "remaining=", 7, true},
		{`"default";r=5;t=3`, "remaining=", 0, false},
		{"", "", 0, false},
		{"x", "", 0, false},
		{"99999999999999999999", "", math.MaxInt64, false},
	} {
		if n, ok := numberAfter(tt.field, tt.before); ok != tt.ok || ok && n != tt.n {
			t.Errorf("numberAfter(%q, %q) = %d, %t; want %d, %t", tt.field, tt.before, n, ok, tt.n, tt.ok)
		}
	}
}
