package model

import "github.com/weirhq/weir"

// Limiter is one key under several limits, all-or-nothing. It is a value, as [Subject] is.
type Limiter struct {
	subjects []Subject // one for each position that ever had a limit
	n        int       // how many of them are in force
}

// NewLimiter returns a key that was never seen.
func NewLimiter(limits ...weir.Limit) Limiter { return Limiter{}.Change(limits...) }

// Change puts other limits in force, position by position. A position that has no limit keeps its state.
func (l Limiter) Change(limits ...weir.Limit) Limiter {
	subjects := make([]Subject, max(len(limits), len(l.subjects)))
	copy(subjects, l.subjects)
	for i, limit := range limits {
		if i < len(l.subjects) {
			subjects[i] = subjects[i].Change(limit)
		} else {
			subjects[i] = New(limit)
		}
	}
	return Limiter{subjects, len(limits)}
}

// Limits returns the limits in force.
func (l Limiter) Limits() []weir.Limit {
	limits := make([]weir.Limit, l.n)
	for i, s := range l.subjects[:l.n] {
		limits[i] = s.limit
	}
	return limits
}

// Take charges cost to all limits if all admit it. The figures are in the order of the limits.
func (l Limiter) Take(now, cost int64) (Limiter, []weir.Figures) {
	l = l.each(func(s Subject) Subject { return s.carried(now) })
	for _, s := range l.subjects[:l.n] {
		if !s.Admits(now, cost) {
			return l, l.Peek(now, cost)
		}
	}
	l = l.each(func(s Subject) Subject { return s.charged(now, cost) })
	return l, l.Peek(now, 0)
}

// Peek returns what the limits say of cost at now.
func (l Limiter) Peek(now, cost int64) []weir.Figures {
	figures := make([]weir.Figures, l.n)
	for i, s := range l.subjects[:l.n] {
		figures[i] = s.Peek(now, cost)
	}
	return figures
}

// Refund gives back n under every limit.
func (l Limiter) Refund(now, n int64) (Limiter, []weir.Figures) {
	l = l.each(func(s Subject) Subject { return s.Refunded(now, n) })
	return l, l.Peek(now, 1)
}

// Charge takes n under every limit without asking.
func (l Limiter) Charge(now, n int64) (Limiter, []weir.Figures) {
	l = l.each(func(s Subject) Subject { return s.Charged(now, n) })
	return l, l.Peek(now, 1)
}

// Reset forgets the key under the limits in force.
func (l Limiter) Reset() Limiter { return l.each(Subject.Reset) }

func (l Limiter) each(next func(Subject) Subject) Limiter {
	subjects := append([]Subject(nil), l.subjects...)
	for i := range l.n {
		subjects[i] = next(subjects[i])
	}
	return Limiter{subjects, l.n}
}
