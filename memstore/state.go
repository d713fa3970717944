package memstore

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/algo"
	"github.com/weirhq/weir/memstore/internal/table"
)

// Two words hold every state. Most algorithms need just two numbers. A sliding window's three are packed: 43 bits for
// the number of its window since the epoch, which last until the year 2248 for windows of a millisecond, and 42 for
// each count. A log's stamps are in a slice of the shard; its entry holds the slice's index and the total.
const (
	countBits = 42
	highBits  = 21
	countMask = 1<<countBits - 1
	lowMask   = 1<<(countBits-highBits) - 1
)

// load unpacks the entry's state, written under spec.
func (s *shard) load(spec *weir.Spec, e *table.Entry) algo.State {
	switch spec.Algorithm {
	case weir.TwoWindows:
		previous := e.A&(1<<highBits-1)<<(countBits-highBits) | e.B>>countBits&lowMask
		return algo.State{A: int64(e.A>>highBits) * spec.Period, B: int64(previous), C: int64(e.B & countMask)}
	case weir.Log:
		return algo.State{A: int64(e.B), Log: s.logs[e.A]}
	}
	return algo.State{A: int64(e.A), B: int64(e.B)}
}

// store packs a state under spec into e. For a log the entry must be new or hold one.
func (s *shard) store(spec *weir.Spec, e *table.Entry, st algo.State) {
	switch spec.Algorithm {
	case weir.TwoWindows:
		previous := uint64(st.B)
		e.A = uint64(st.A/spec.Period)<<highBits | previous>>(countBits-highBits)
		e.B = previous&lowMask<<countBits | uint64(st.C)
	case weir.Log:
		s.logs[e.A] = compact(st.Log)
		e.B = uint64(st.A)
	default:
		e.A, e.B = uint64(st.A), uint64(st.B)
	}
}

// compact gives back the memory of a log that has shrunk a lot.
func compact(log []algo.Stamp) []algo.Stamp {
	if cap(log) > 64 && cap(log) > 8*len(log) {
		return append(make([]algo.Stamp, 0, 2*len(log)), log...)
	}
	return log
}

// newLog reserves a place for a log's stamps.
func (s *shard) newLog() uint64 {
	if n := len(s.freeLogs); n > 0 {
		i := s.freeLogs[n-1]
		s.freeLogs = s.freeLogs[:n-1]
		return uint64(i)
	}
	s.logs = append(s.logs, nil)
	return uint64(len(s.logs) - 1)
}

func (s *shard) dropLog(i uint64) {
	s.logs[i] = nil
	s.freeLogs = append(s.freeLogs, uint32(i))
}
