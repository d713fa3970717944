package memstore

import (
	"math"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/algo"
	"github.com/weirhq/weir/memstore/internal/specs"
	"github.com/weirhq/weir/memstore/internal/table"
)

// operation is what a request wants done.
type operation uint8

const (
	take operation = iota
	peek
	refund
	charge
)

// shard is a part of the store under a lock of its own. A subject's entries are all in one shard.
type shard struct {
	mu       sync.Mutex
	table    table.Table
	specs    specs.Table
	logs     [][]algo.Stamp
	freeLogs []uint32
	spare    int // entries that the shard may still add without asking the quota
	swept    uint32
	moves    uint64 // counts the changes that move entries, after which a cursor must look again
	quota    *quota
	_        [40]byte // keeps neighbours' locks off each other's cache lines
}

// cursor is one limit of a request on its way: the state it found and what becomes of it.
type cursor struct {
	algo    algo.Algorithm
	state   algo.State
	wait    int64
	id      uint32 // the spec's number
	group   uint32
	slot    int // -1 when the subject has no entry
	moves   uint64
	changed bool // the entry was written under another spec
}

// apply decides cost for the subject h and does what op says. s.mu must be held; now is read under it, so that the
// decisions on a subject are in the order of their times.
func (s *shard) apply(op operation, h table.Hash, specs []weir.Spec, clock *Store, cost int64) weir.Results {
	if op == take && len(specs) == 1 {
		if one, ok := s.takeOne(h, &specs[0], clock, cost); ok {
			return weir.Results{One: one}
		}
	}
	now := clock.now()
	if op == take && len(specs) > 1 {
		if all := s.takeAll(h, specs, now, cost); all != nil {
			return weir.Results{All: all}
		}
	}
	s.specs.Trim()
	var cursors [weir.MaxLimits]cursor
	return s.applyAll(cursors[:len(specs)], op, h, specs, now, cost)
}

// takeOne is the short way for what nearly all requests are: a take by a known subject under one unchanged limit.
func (s *shard) takeOne(h table.Hash, spec *weir.Spec, clock *Store, cost int64) (weir.Result, bool) {
	g, candidates := s.table.Seek(h)
	now := clock.now() // while the entry comes from memory
	slot, e := s.table.Choose(g, candidates, h)
	if slot < 0 {
		return weir.Result{}, false
	}
	known := s.specs.Slot(e.Spec())
	if !known.Is(spec) {
		return weir.Result{}, false
	}
	var o algo.Outcome
	if b := known.Bucket; b != nil {
		used, at, outcome := b.Take(int64(e.A), int64(e.B), now, cost)
		if o = outcome; o.Wait == 0 {
			e.A, e.B = uint64(used), uint64(at)
		}
	} else {
		// A settled state decides as the one it came from, and a log that is kept so is not searched twice for what has
		// expired.
		var st algo.State
		st, o = algo.Take(known.Algo, s.load(spec, e), now, cost)
		s.store(spec, e, st)
	}
	if o.Reset == 0 {
		s.drop(g, slot)
	}
	return result(o), true
}

// takeAll is takeOne for several limits, all of them smooth buckets. It returns nil where that does not hold.
func (s *shard) takeAll(h table.Hash, specs []weir.Spec, now, cost int64) *[weir.MaxLimits]weir.Result {
	if s.table.N == 0 || cost == 0 {
		return nil
	}
	var (
		found   [weir.MaxLimits]*table.Entry
		buckets [weir.MaxLimits]*algo.Bucket
		states  [weir.MaxLimits][2]int64
	)
	g := s.table.Group(s.table.Locate(h))
	for i := range specs {
		slot := s.table.Find(g, h.At(i))
		if slot < 0 {
			return nil
		}
		e := s.table.Entry(g, slot)
		known := s.specs.Slot(e.Spec())
		if known.Bucket == nil || !known.Is(&specs[i]) {
			return nil
		}
		found[i], buckets[i] = e, known.Bucket
	}
	all := new([weir.MaxLimits]weir.Result)
	admitted := true
	for i := range specs {
		used, at, o := buckets[i].Take(int64(found[i].A), int64(found[i].B), now, cost)
		states[i] = [2]int64{used, at}
		all[i] = result(o)
		admitted = admitted && o.Wait == 0
	}
	for i := range specs {
		if admitted {
			found[i].A, found[i].B = uint64(states[i][0]), uint64(states[i][1])
		} else if all[i].RetryAfter == 0 { // it would have been charged
			_, _, o := buckets[i].Take(int64(found[i].A), int64(found[i].B), now, 0)
			all[i] = result(o)
		}
	}
	return all
}

// applyAll is the long way, for all requests: read every limit's state, decide on all of them together, write what
// changes.
func (s *shard) applyAll(cursors []cursor, op operation, h table.Hash, specs []weir.Spec, now, cost int64) (results weir.Results) {
	admitted := true
	for i := range cursors {
		c := &cursors[i]
		s.read(c, h.At(i), &specs[i], now)
		c.wait = algo.Wait(c.algo, c.state, now, cost)
		admitted = admitted && c.wait == 0
	}
	if len(cursors) > 1 {
		results.All = new([weir.MaxLimits]weir.Result)
	}
	for i := range cursors {
		c := &cursors[i]
		write := op != peek && c.changed
		if cost > 0 {
			switch {
			case op == take && admitted, op == charge:
				c.state = c.algo.Charge(c.state, now, cost)
				write = true
			case op == refund && !algo.Fresh(c.algo, c.state, now):
				c.state = c.algo.Refund(c.state, now, cost)
				write = true
			}
		}
		if op == refund || op == charge {
			c.wait = algo.Wait(c.algo, c.state, now, 1)
		}
		if write {
			s.write(c, h.At(i), &specs[i], now)
		}
		one := result(algo.Look(c.algo, c.state, now, c.wait))
		if results.All == nil {
			results.One = one
		} else {
			results.All[i] = one
		}
	}
	return results
}

// read finds the subject's settled state under spec. What was written under another spec is carried over.
func (s *shard) read(c *cursor, h table.Hash, spec *weir.Spec, now int64) {
	e := s.seek(c, h)
	if e == nil {
		c.id = s.specs.Intern(spec)
		c.algo = s.specs.Slot(c.id).Algo
		return
	}
	id := e.Spec()
	old := s.specs.Slot(id)
	c.state = s.load(&old.Spec, e)
	if old.Is(spec) {
		c.id, c.algo = id, old.Algo
		c.state = c.algo.Settle(c.state, now)
		if spec.Algorithm == weir.Log {
			s.store(spec, e, c.state) // without what has expired, so that nobody has to search it again
		}
		return
	}
	from := old.Algo
	c.changed = true
	c.id = s.specs.Intern(spec)
	c.algo = s.specs.Slot(c.id).Algo
	c.state = algo.Carry(from, c.state, c.algo, now)
}

// seek points c to the entry of h and returns it, nil if there is none.
func (s *shard) seek(c *cursor, h table.Hash) *table.Entry {
	c.moves = s.moves
	c.slot = -1
	if s.table.N == 0 {
		return nil
	}
	c.group = s.table.Locate(h)
	g := s.table.Group(c.group)
	c.slot = s.table.Find(g, h)
	if c.slot < 0 {
		return nil
	}
	return s.table.Entry(g, c.slot)
}

// write keeps c's state: in the subject's entry, in a new one, or, when it is fresh, in none.
func (s *shard) write(c *cursor, h table.Hash, spec *weir.Spec, now int64) {
	if c.moves != s.moves {
		s.seek(c, h)
	}
	if algo.Fresh(c.algo, c.state, now) {
		if c.slot >= 0 {
			s.drop(s.table.Group(c.group), c.slot)
		}
		return
	}
	var e *table.Entry
	if c.slot >= 0 {
		e = s.table.Entry(s.table.Group(c.group), c.slot)
	} else {
		e = s.insert(h, c.id, now)
	}
	if e.Spec() != c.id {
		s.respec(e, c.id)
	}
	s.store(spec, e, c.state)
}

// insert makes an entry for h, making room first where that is needed.
func (s *shard) insert(h table.Hash, id uint32, now int64) *table.Entry {
	s.moves++
	s.specs.Hold(id)
	s.table.Init()
	s.makeRoom(h, now)
	for {
		gi := s.table.Locate(h)
		g := s.table.Group(gi)
		switch {
		case g.N < table.GroupSize:
			e := s.table.Add(g, h)
			e.SetSpec(id)
			if s.specs.Slot(id).Spec.Algorithm == weir.Log {
				e.A = s.newLog()
			}
			return e
		case s.dropExpired(g, now) > 0:
		case !s.table.Split(gi):
			s.evict(g, now)
		}
	}
}

// drop removes an entry and what it holds.
func (s *shard) drop(g *table.Group, slot int) {
	s.moves++
	e := s.table.Entry(g, slot)
	if s.specs.Slot(e.Spec()).Spec.Algorithm == weir.Log {
		s.dropLog(e.A)
	}
	s.specs.Release(e.Spec())
	s.table.Remove(g, slot)
	s.spare++
	if s.spare > 2*s.quota.batch {
		s.spare -= s.quota.batch
		s.quota.giveBack()
	}
}

// respec makes e an entry of the spec numbered id.
func (s *shard) respec(e *table.Entry, id uint32) {
	wasLog := s.specs.Slot(e.Spec()).Spec.Algorithm == weir.Log
	isLog := s.specs.Slot(id).Spec.Algorithm == weir.Log
	switch {
	case wasLog && !isLog:
		s.dropLog(e.A)
	case isLog && !wasLog:
		e.A = s.newLog()
	}
	s.specs.Hold(id)
	s.specs.Release(e.Spec())
	e.SetSpec(id)
}

// remove drops the entries of a subject.
func (s *shard) remove(h table.Hash, positions int) {
	for i := range positions {
		var c cursor
		if s.seek(&c, h.At(i)) != nil {
			s.drop(s.table.Group(c.group), c.slot)
		}
	}
}

// maxWait is the longest wait that a duration holds, some 292 years. Only a state that was restored under a clock that
// has gone back by decades takes longer.
const maxWait = int64(math.MaxInt64 / time.Microsecond)

func result(o algo.Outcome) weir.Result {
	r := weir.Result{
		Remaining:  o.Remaining,
		RetryAfter: time.Duration(min(o.Wait, maxWait)) * time.Microsecond,
		ResetAfter: time.Duration(min(o.Reset, maxWait)) * time.Microsecond,
	}
	if o.Wait == algo.Never {
		r.RetryAfter = weir.Never
	}
	return r
}
