package algo

// anchored is the fixed window that starts with the first charge.
//
// State: A the start of the window, B units counted in it.
type anchored struct {
	limit  int64
	length int64 // microseconds
}

func (w *anchored) Quota() int64 { return w.limit }

func (w *anchored) Settle(s State, now int64) State {
	if s.B == 0 || now >= s.A+w.length || s.A-now > w.length {
		return State{}
	}
	return s
}

func (w *anchored) Used(s State, _ int64) int64 { return s.B }

func (w *anchored) Wait(s State, now, cost int64) int64 {
	if s.B+cost <= w.limit {
		return 0
	}
	return s.A + w.length - now
}

func (w *anchored) Charge(s State, now, n int64) State {
	if s.B == 0 {
		s.A = now
	}
	s.B = addCapped(s.B, n, maxExact)
	return s
}

func (w *anchored) Refund(s State, _, n int64) State {
	s.B = max(0, s.B-n)
	if s.B == 0 {
		return State{}
	}
	return s
}

func (w *anchored) carry(_ Algorithm, s State, _ int64) State { return s }
