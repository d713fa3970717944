package memstore

import (
	"cmp"
	"math/bits"
	"sync/atomic"

	"github.com/weirhq/weir/internal/algo"
	"github.com/weirhq/weir/memstore/internal/table"
)

// quota is what is left of MaxKeys. Shards take from it and give back a batch at a time, so that insertions in
// different shards do not meet at one counter; each starts with one entry of its own, which it can always make room
// with.
type quota struct {
	left  atomic.Int64
	batch int
}

// newQuota divides maxKeys between a number of shards, of which there may not be more than maxKeys.
func newQuota(maxKeys, shards int) *quota {
	q := &quota{batch: min(max(maxKeys>>16, 1), 64)}
	q.left.Store(int64(maxKeys - shards))
	return q
}

// take returns how many entries it granted, from 0 to a batch.
func (q *quota) take() int {
	for {
		left := q.left.Load()
		grant := min(left, int64(q.batch))
		if grant <= 0 {
			return 0
		}
		if q.left.CompareAndSwap(left, left-grant) {
			return int(grant)
		}
	}
}

func (q *quota) giveBack() { q.left.Add(int64(q.batch)) }

// makeRoom sees to it that one entry may be added, and takes it from the shard's spare ones.
func (s *shard) makeRoom(h table.Hash, now int64) {
	if s.spare == 0 {
		s.spare = s.quota.take()
	}
	if s.spare == 0 {
		s.evictNear(s.table.Locate(h), now)
	}
	s.spare--
}

// minChoice is among how many entries the one that must leave is chosen, if the shard has as many.
const minChoice = table.GroupSize / 2

// evictNear removes an entry of the group gi, and of those after it where it holds less than a choice: expired ones
// if there are any, else the one closest to fresh.
func (s *shard) evictNear(gi uint32, now int64) {
	var v victim
	for looked := 0; looked < minChoice && looked < s.table.N; gi = (gi + 1) % s.table.NGroup {
		g := s.table.Group(gi)
		if s.consider(&v, g, now) > 0 {
			return
		}
		looked += int(g.N)
	}
	s.drop(v.group, v.slot)
}

// dropExpired removes the entries of g that decide like fresh ones and returns their number.
func (s *shard) dropExpired(g *table.Group, now int64) int {
	return s.consider(nil, g, now)
}

// evict removes the entry of g that is closest to fresh.
func (s *shard) evict(g *table.Group, now int64) {
	var v victim
	if s.consider(&v, g, now) == 0 {
		s.drop(v.group, v.slot)
	}
}

// victim is the entry that is closest to fresh among those considered: the one with the smallest part of its quota in
// use, among equals the one with the fewest units in use, among equals the one that is fresh first. The part comes before
// the time because it is what a flood cannot fake so easily: a made-up key has used little of a long window, an
// exhausted one all of a short one. The units come before it because they are what forgetting the entry gives away.
type victim struct {
	group       *table.Group // nil before the first
	slot        int
	algo        algo.Algorithm
	used, reset int64
}

// consider removes the expired entries of g and returns their number. If there are none and v is not nil, v becomes
// the entry of g that is closer to fresh than v was.
func (s *shard) consider(v *victim, g *table.Group, now int64) (dropped int) {
	for slot := int(g.N) - 1; slot >= 0; slot-- {
		e := s.table.Entry(g, slot)
		spec := s.specs.Slot(e.Spec())
		st := spec.Algo.Settle(s.load(&spec.Spec, e), now)
		reset := spec.Algo.Wait(st, now, spec.Spec.Quota)
		if reset == 0 {
			s.drop(g, slot)
			dropped++
		} else if v != nil && dropped == 0 {
			v.compare(victim{group: g, slot: slot, algo: spec.Algo, used: spec.Algo.Used(st, now), reset: reset})
		}
	}
	return dropped
}

func (v *victim) compare(other victim) {
	if v.group == nil {
		*v = other
		return
	}
	order := 0
	if v.algo != other.algo { // under one limit the part and the units have one order
		order = cmp.Compare(usedPart(other.used, other.algo.Quota()), usedPart(v.used, v.algo.Quota()))
	}
	if cmp.Or(order, cmp.Compare(other.used, v.used), cmp.Compare(other.reset, v.reset)) < 0 {
		*v = other
	}
}

// usedPart returns used / quota in 1/4096 parts, at most one whole.
func usedPart(used, quota int64) int64 {
	if used >= quota {
		return 1 << 12
	}
	hi, lo := bits.Mul64(uint64(used), 1<<12)
	part, _ := bits.Div64(hi, lo, uint64(quota))
	return int64(part)
}
