package algo

// Stamp is an entry of a log: N units were charged at At. A log's stamps are in the order of their times.
type Stamp struct{ At, N int64 }

// log is the sliding log: exact, never more than limit in any window. A unit charged at t counts until t + length.
//
// State: A units in the log, Log its stamps, the oldest first. One stamp holds all that was charged at one instant.
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
		return s
	}
	s.Log = append(s.Log, Stamp{At: now, N: n})
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
