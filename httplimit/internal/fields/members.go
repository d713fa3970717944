package fields

import (
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// Policy is a policy as it stands in headers: a list member for each limit.
type Policy struct {
	Names    []string // as clients see them
	members  []member
	policies string // its part of RateLimit-Policy
}

// member is a limit as it stands in headers.
type member struct {
	head   string // the start of its member of RateLimit: "name";r=
	quota  int64
	window int64 // seconds, at least 1; 0 when it has no fixed length
}

// NewPolicy returns the policy of that name, which must be a valid one, with limits in the order of their figures.
func NewPolicy(name string, limits []weir.Limit) *Policy {
	p := &Policy{Names: Names(name, limits), members: make([]member, len(limits))}
	for i, l := range limits {
		quota, window := Shape(l)
		p.members[i] = member{head: `"` + p.Names[i] + `";r=`, quota: quota, window: window}
		item := `"` + p.Names[i] + `";q=` + digits(quota)
		if window > 0 {
			item += ";w=" + digits(window)
		}
		p.policies = joinLists(p.policies, item)
	}
	return p
}

// Names returns what the limits of a policy are called: by its name alone when there is one, otherwise by their
// periods too.
func Names(policy string, limits []weir.Limit) []string {
	if len(limits) == 1 {
		return []string{policy}
	}
	names := make([]string, len(limits))
	seen := make(map[string]int)
	for i, l := range limits {
		_, period, _ := strings.Cut(l.String(), "/")
		period, _, _ = strings.Cut(period, " ")
		names[i] = policy + "." + period
		if seen[period]++; seen[period] > 1 {
			names[i] += "-" + strconv.Itoa(seen[period])
		}
	}
	return names
}

// Shape returns the quota of l and the seconds, rounded up, that it comes back in; 0 for a calendar window. For a
// bucket that is the time from empty to full: the one window that keeps quota / window at the sustained rate.
func Shape(l weir.Limit) (quota, seconds int64) {
	switch l := l.(type) {
	case weir.TokenBucket:
		if l.Stepwise {
			return l.Capacity, secondsUp(fillTime((l.Capacity-1)/l.Refill+1, 1, l.Interval))
		}
		return l.Capacity, secondsUp(fillTime(l.Capacity, l.Refill, l.Interval))
	case weir.LeakyBucket:
		return l.Capacity, secondsUp(fillTime(l.Capacity, l.Leak, l.Interval))
	case weir.FixedWindow:
		return l.Limit, secondsUp(l.Window)
	case weir.SlidingWindow:
		return l.Limit, secondsUp(l.Window)
	case weir.SlidingLog:
		return l.Limit, secondsUp(l.Window)
	}
	return 0, 0
}

// fillTime returns capacity x interval / refill, rounded up. [weir.New] has made sure that it is within 100 years.
func fillTime(capacity, refill int64, interval time.Duration) time.Duration {
	hi, lo := bits.Mul64(uint64(capacity), uint64(interval))
	q, rem := bits.Div64(hi, lo, uint64(refill))
	if rem > 0 {
		q++
	}
	return time.Duration(q)
}

// maxInteger is the largest Integer of a structured field (RFC 9651).
const maxInteger = 999_999_999_999_999

func clamp(n int64) int64 { return min(n, maxInteger) }

func digits(n int64) string { return strconv.FormatInt(clamp(n), 10) }

// secondsUp returns d in whole seconds, rounded up.
func secondsUp(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}

// unixUp returns t as a Unix time, rounded up.
func unixUp(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// RetryAfter returns the value of Retry-After: at least 1, and never rounded down, which would send an obedient client
// into the next refusal.
func RetryAfter(d time.Duration) string { return digits(max(secondsUp(d), 1)) }

func joinLists(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}
