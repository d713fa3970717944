package specs

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/algo"
)

// Table numbers the specs under which a shard's entries were written, so that an entry holds four bytes of them.
// A spec that no entry uses leaves in time: limits made up per request cannot fill the table.
type Table struct {
	slots []Slot
	free  []uint32
	index map[weir.Spec]uint32
	idle  int    // slots in the index that no entry uses
	last  uint32 // the slot that Intern answered last; most shards see few specs
}

// Slot is a spec with what decides it.
type Slot struct {
	seen   *weir.Spec   // where spec was last seen: scopes do not change, so that the same place is the same spec
	Bucket *algo.Bucket // Algo, if it is one
	Spec   weir.Spec
	Algo   algo.Algorithm
	refs   int // entries that use it
}

// Is reports whether the slot holds spec.
func (s *Slot) Is(spec *weir.Spec) bool {
	if s.seen == spec {
		return true
	}
	if s.Spec == *spec {
		s.seen = spec
		return true
	}
	return false
}

// MaxIdle is how many specs without entries a shard keeps.
const MaxIdle = 64

// Slot returns the spec with a number, until the next Intern or Trim.
func (t *Table) Slot(id uint32) *Slot { return &t.slots[id] }

// Used returns how many specs the table holds.
func (t *Table) Used() int { return len(t.index) }

// Intern returns the number of spec. It is valid until the next Trim, and as long as an entry holds it.
func (t *Table) Intern(spec *weir.Spec) uint32 {
	if int(t.last) < len(t.slots) && t.slots[t.last].Is(spec) {
		return t.last
	}
	id, ok := t.index[*spec]
	if !ok {
		slot := Slot{seen: spec, Spec: *spec, Algo: algo.For(*spec)}
		slot.Bucket, _ = slot.Algo.(*algo.Bucket)
		if n := len(t.free); n > 0 {
			id = t.free[n-1]
			t.free = t.free[:n-1]
			t.slots[id] = slot
		} else {
			id = uint32(len(t.slots))
			t.slots = append(t.slots, slot)
		}
		if t.index == nil {
			t.index = make(map[weir.Spec]uint32)
		}
		t.index[*spec] = id
		t.idle++
	}
	t.last = id
	return id
}

// Hold notes that one more entry uses the spec.
func (t *Table) Hold(id uint32) {
	if t.slots[id].refs == 0 {
		t.idle--
	}
	t.slots[id].refs++
}

// Release undoes a Hold.
func (t *Table) Release(id uint32) {
	t.slots[id].refs--
	if t.slots[id].refs == 0 {
		t.idle++
	}
}

// Trim drops the specs that no entry uses, once there are many.
func (t *Table) Trim() {
	if t.idle <= MaxIdle || t.idle < len(t.index)/2 {
		return
	}
	for id := range t.slots {
		slot := &t.slots[id]
		if slot.Algo != nil && slot.refs == 0 {
			delete(t.index, slot.Spec)
			*slot = Slot{}
			t.free = append(t.free, uint32(id))
		}
	}
	t.idle = 0
}
