package algo

// fixed is the fixed window aligned to the Unix epoch or to a calendar.
//
// State: A the time of the last charge, B units counted in the window that holds A. The time rather than the window's
// start is kept so that under a changed window the units stay where they were consumed.
type fixed struct {
	limit    int64
	length   int64     // microseconds, without a calendar
	calendar *calendar // nil without one
}

func (f *fixed) Quota() int64 { return f.limit }

func (f *fixed) Settle(s State, now int64) State {
	if s.B == 0 {
		return State{}
	}
	start, end := f.window(max(now, s.A))
	if s.A < start || s.A-now > end-start {
		return State{}
	}
	return s
}

func (f *fixed) Used(s State, _ int64) int64 { return s.B }

func (f *fixed) Wait(s State, now, cost int64) int64 {
	if s.B+cost <= f.limit {
		return 0
	}
	_, end := f.window(max(now, s.A))
	return end - now
}

func (f *fixed) Charge(s State, now, n int64) State {
	return State{A: max(s.A, now), B: addCapped(s.B, n, maxExact)}
}

func (f *fixed) Refund(s State, _, n int64) State {
	s.B = max(0, s.B-n)
	if s.B == 0 {
		return State{}
	}
	return s
}

func (f *fixed) carry(_ Algorithm, s State, _ int64) State { return s }

// window returns the window [start, end) that holds t.
func (f *fixed) window(t int64) (start, end int64) {
	if f.calendar != nil {
		return f.calendar.window(t)
	}
	start = t - t%f.length
	return start, start + f.length
}
