package memstore

import "time"

// Entries that decide like fresh ones leave in passing, when their group is full, and by a sweep once a second. The
// sweep is a timer that is armed only while there are entries: an idle store costs nothing, one that is forgotten
// without Close is collected. Each second looks at sweepGroups groups, some 300,000 entries, or a 64th of a larger
// store, and holds a shard's lock for sweepSlice groups at a time: a few tens of microseconds.
const (
	sweepEvery  = time.Second
	sweepGroups = 1 << 14
	sweepSlice  = 64
)

// arm starts the timer of the sweep unless it runs.
func (t *tables) arm() {
	if !t.armed.Load() && t.armed.CompareAndSwap(false, true) {
		t.timer.Reset(sweepEvery)
	}
}

// sweep removes expired entries from the next part of the store, and comes back if any entries are left.
func (t *tables) sweep() {
	t.sweeping.Lock()
	defer t.sweeping.Unlock()
	total := 0
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		total += int(s.table.NGroup)
		s.mu.Unlock()
	}
	budget := max(sweepGroups, total/64)
	for range t.shards {
		s := &t.shards[t.nextSwept]
		more := true
		for more && budget > 0 && !t.closed.Load() {
			budget -= sweepSlice
			s.mu.Lock()
			more = s.sweepSlice(t.now())
			s.mu.Unlock()
		}
		if more {
			break
		}
		t.nextSwept = (t.nextSwept + 1) % len(t.shards)
	}
	t.armed.Store(false)
	if !t.closed.Load() && t.len() > 0 {
		t.arm()
	}
}

// sweepSlice looks at the next groups of the shard and reports whether there are more. s.mu must be held.
func (s *shard) sweepSlice(now int64) bool {
	end := min(s.swept+sweepSlice, s.table.NGroup)
	for ; s.swept < end; s.swept++ {
		if g := s.table.Group(s.swept); g.N > 0 {
			s.dropExpired(g, now)
		}
	}
	if s.swept < s.table.NGroup {
		return true
	}
	s.swept = 0
	if s.table.Sparse() {
		s.moves++
		s.table.Rebuild()
	}
	return false
}
