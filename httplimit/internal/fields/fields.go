package fields

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// Mode is a set of shapes.
type Mode uint8

// The shapes.
const (
	Draft11 Mode = 1 << iota
	Draft7
	Draft6
	XEpoch
	XDelta
	None

	Known    = None<<1 - 1
	oneLimit = Draft7 | Draft6 | XEpoch | XDelta
)

// Told is a policy that a response tells of. Its Decision is the zero value when there is none. It is held by value so
// that telling moves nothing to the heap.
type Told struct {
	Policy   *Policy
	Decision weir.Decision
}

func (t *Told) decided() bool { return t.Decision.Limit > 0 }

// Writer writes the fields of a mode. It is immutable. Names are spelt as http.Header stores them.
type Writer struct {
	mode   Mode
	all    int    // how many policies it can tell of
	lists  string // RateLimit-Policy of all of them
	expose string
}

// New returns a writer that tells of all, or of those that concern a request.
func New(mode Mode, expose bool, all []*Policy) Writer {
	w := Writer{mode: mode, all: len(all)}
	for _, p := range all {
		w.lists = joinLists(w.lists, p.policies)
	}
	if !expose {
		return w
	}
	for _, group := range []struct {
		of    Mode
		names string
	}{
		{Draft11 | Draft7, "RateLimit"},
		{Draft6, "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset"},
		{Draft11 | Draft7 | Draft6, "RateLimit-Policy"},
		{XEpoch | XDelta, "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"},
	} {
		if mode&group.of != 0 {
			w.expose = joinLists(w.expose, group.names)
		}
	}
	w.expose = joinLists(w.expose, "Retry-After")
	return w
}

// Write tells of the policies. refused is the index of the one that refuses, or -1.
func (w *Writer) Write(h http.Header, told []Told, refused int) {
	if w.mode&Draft11 != 0 && len(told) > 0 {
		w.writeLists(h, told, refused)
	}
	if w.mode&oneLimit != 0 {
		w.writeOne(h, told, refused)
	}
}

// WriteExpose lets scripts of other origins read what Write writes, and Retry-After.
func (w *Writer) WriteExpose(h http.Header) {
	const name = "Access-Control-Expose-Headers"
	if w.expose != "" && !strings.HasSuffix(strings.Join(h[name], ", "), w.expose) {
		addMembers(h, name, w.expose, make([]string, 1))
	}
}

func (w *Writer) writeLists(h http.Header, told []Told, refused int) {
	wait := weir.Never // what no t may pass
	if refused >= 0 {
		wait = told[refused].Decision.RetryAfter
	}
	var buf [192]byte
	b, policies := buf[:0], w.lists
	if len(told) < w.all {
		policies = ""
	}
	for i := range told {
		if len(told) < w.all {
			policies = joinLists(policies, told[i].Policy.policies)
		}
		if told[i].decided() {
			b = told[i].appendMembers(b, wait)
		}
	}
	lines := make([]string, 2)
	addMembers(h, "Ratelimit-Policy", policies, lines[0:1:1])
	if len(b) > 0 {
		addMembers(h, "Ratelimit", string(b), lines[1:2:2])
	}
}

// appendMembers appends what the decision says of each of its limits, with no time beyond wait.
func (t *Told) appendMembers(b []byte, wait time.Duration) []byte {
	var one [1]weir.Figures
	for i, f := range t.figures(&one) {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(b, t.Policy.members[i].head...)
		b = strconv.AppendInt(b, clamp(f.Remaining), 10)
		b = append(b, ";t="...)
		b = strconv.AppendInt(b, secondsUp(min(resetAfter(f), wait)), 10)
	}
	return b
}

// figures returns what the decision says of each limit. The usual one limit allocates nothing.
func (t *Told) figures(one *[1]weir.Figures) []weir.Figures {
	d := &t.Decision
	if len(t.Policy.members) > 1 {
		return d.Figures()
	}
	one[0] = weir.Figures{Limit: d.Limit, Remaining: d.Remaining, RetryAfter: d.RetryAfter, ResetAfter: d.ResetAfter}
	return one[:]
}

// resetAfter returns the time that a limit tells of: until its full quota is back, or when it refuses until the retry.
func resetAfter(f weir.Figures) time.Duration {
	if f.RetryAfter > 0 && f.RetryAfter != weir.Never {
		return f.RetryAfter
	}
	return f.ResetAfter
}

// addMembers appends list members to a field: to its line if it has one, otherwise as a new line held by slot.
func addMembers(h http.Header, name, members string, slot []string) {
	if old := h[name]; len(old) > 0 {
		members = joinLists(strings.Join(old, ", "), members)
	}
	slot[0] = members
	h[name] = slot
}

// writeOne writes the fields that tell of one limit: all of them, or none where an outer middleware told of one that
// is as tight. A refusal always writes: it is what the response is about.
func (w *Writer) writeOne(h http.Header, told []Told, refused int) {
	t := tightest(told, refused)
	if t == nil {
		return
	}
	at := t.Decision.Deciding
	var one [1]weir.Figures
	f, m := t.figures(&one)[at], t.Policy.members[at]
	reset := resetAfter(f)
	limit, left, seconds := digits(f.Limit), digits(f.Remaining), digits(secondsUp(reset))
	writes := func(mode Mode, name, before string) bool {
		if w.mode&mode == 0 {
			return false
		}
		n, ok := numberAfter(h.Get(name), before)
		return !ok || f.Remaining < n || refused >= 0
	}
	slots := make([]string, 0, 8) // the lines of all fields, in one allocation
	put := func(name, value string) {
		slots = append(slots, value)
		h[name] = slots[len(slots)-1 : len(slots) : len(slots)]
	}
	draft7, draft6 := writes(Draft7, "Ratelimit", "remaining="), writes(Draft6, "Ratelimit-Remaining", "")
	if draft7 {
		put("Ratelimit", "limit="+limit+", remaining="+left+", reset="+seconds)
	}
	if draft6 {
		put("Ratelimit-Limit", limit)
		put("Ratelimit-Remaining", left)
		put("Ratelimit-Reset", seconds)
	}
	switch {
	case !draft7 && !draft6:
	case m.window == 0: // they require a window, and one of the calendar has no fixed length
		h.Del("Ratelimit-Policy")
	default:
		put("Ratelimit-Policy", digits(m.quota)+";w="+digits(m.window))
	}
	if writes(XEpoch|XDelta, "X-Ratelimit-Remaining", "") {
		if w.mode&XEpoch != 0 {
			seconds = digits(unixUp(time.Now().Add(reset)))
		}
		put("X-Ratelimit-Limit", limit)
		put("X-Ratelimit-Remaining", left)
		put("X-Ratelimit-Reset", seconds)
	}
}

// tightest returns the policy that refuses, or the one with the least remaining; nil when none decided.
func tightest(told []Told, refused int) *Told {
	if refused >= 0 {
		return &told[refused]
	}
	var least *Told
	for i := range told {
		t := &told[i]
		if t.decided() && (least == nil || t.Decision.Remaining < least.Decision.Remaining) {
			least = t
		}
	}
	return least
}

// numberAfter reads the whole number that follows before in the text of a field.
func numberAfter(field, before string) (int64, bool) {
	_, field, ok := strings.Cut(field, before)
	if !ok {
		return 0, false
	}
	end := 0
	for end < len(field) && field[end] >= '0' && field[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(field[:end], 10, 64)
	return n, err == nil
}
