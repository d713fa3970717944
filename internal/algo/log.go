package algo

// Stamp is an entry of a log: N units were charged at At. A log's stamps are in the order of their times.
type Stamp struct{ At, N int64 }

// log is the sliding log: exact, never more than limit in any window. A unit charged at t counts until t + length.
//
// State: A units in the log, Log its stamps, the oldest first. One stamp holds all that was charged at one instant, and
// the first one all debt: of the stamps that lie wholly beyond the newest limit units, which no decision but a refund
// can tell apart, all units count from the time of the newest. So there are at most limit + 1 stamps.
type log struct {
	limit  int64
	length int64 // microseconds
}

func (l *log) Quota() int64 { return l.limit }

func (l *log) Settle(s State, now int64) State {
	if len(s.Log) == 0 {
		return State{}
	}
	newest := s.Log[len(s.Log)-1].At
	if newest-now > l.length {
		return State{}
	}
	past := max(now, newest) - l.length
	for len(s.Log) > 0 && s.Log[0].At <= past {
		s.A -= s.Log[0].N
		s.Log = s.Log[1:]
	}
	if len(s.Log) == 0 {
		return State{}
	}
	return s
}

func (l *log) Used(s State, _ int64) int64 { return s.A }

func (l *log) Wait(s State, now, cost int64) int64 {
	short := s.A + cost - l.limit
	if short <= 0 {
		return 0
	}
	if short >= s.A {
		return s.Log[len(s.Log)-1].At + l.length - now
	}
	i := 0
	for short -= s.Log[i].N; short > 0; short -= s.Log[i].N {
		i++
	}
	return s.Log[i].At + l.length - now
}

func (l *log) Charge(s State, now, n int64) State {
	n = min(n, maxExact-s.A)
	if n == 0 {
		return s
	}
	s.A += n
	if last := len(s.Log) - 1; last >= 0 && s.Log[last].At >= now {
		s.Log[last].N += n
		return l.gather(s)
	}
	s.Log = append(s.Log, Stamp{At: now, N: n})
	return l.gather(s)
}

// gather makes one stamp of the debt.
func (l *log) gather(s State) State {
	beyond, debt, last := s.A-l.limit, int64(0), -1
	for last+1 < len(s.Log) && debt+s.Log[last+1].N <= beyond {
		last++
		debt += s.Log[last].N
	}
	if last > 0 {
		s.Log = s.Log[last:]
		s.Log[0].N = debt
	}
	return s
}

func (l *log) Refund(s State, _, n int64) State {
	for n > 0 && len(s.Log) > 0 {
		last := &s.Log[len(s.Log)-1]
		if last.N > n {
			last.N -= n
			s.A -= n
			return s
		}
		n -= last.N
		s.A -= last.N
		s.Log = s.Log[:len(s.Log)-1]
	}
	if len(s.Log) == 0 {
		return State{}
	}
	return s
}

func (l *log) carry(_ Algorithm, s State, _ int64) State { return s }
