package table

import (
	"encoding/binary"
	"math/bits"
)

// A shard's entries live in a hash table that grows by extendible hashing: a directory of 2^depth slots, indexed by the
// leading bits of the hash, points to groups of up to GroupSize entries. A full group splits in two. Groups draw
// their memory four entries at a time from chunks that never move, so that growth copies and frees nothing, the table
// is about nine tenths full at any size, and no insertion takes longer than a split: about a microsecond, apart
// from the doubling of the directory, four bytes for some ten entries.
const (
	// GroupSize is the most entries of a group.
	GroupSize = 28

	blockSize  = 4
	blockChunk = 32 // blocks that are allocated together, 4 KiB
	groupChunk = 16 // groups that are allocated together, 1 KiB
)

// Hash identifies a subject: where it lives and, with the position of the limit mixed in, which entry is its own.
type Hash struct {
	Lo uint64 // shard, group and tag; kept whole in the entry
	Hi uint64 // its upper half is kept in the entry
}

// At returns the hash of the subject's entry for the limit at a position. The positions of one subject differ only
// in the identity, so that its entries share a lock and a group.
func (h Hash) At(position int) Hash {
	h.Hi ^= uint64(position) * 0x9e3779b97f4a7c15 & identity
	return h
}

// identity selects the part of Hash.Hi that entries keep.
const identity = 0xffffffff00000000

// Entry is the state of one subject under one limit.
type Entry struct {
	hash uint64 // Hash.Lo
	rest uint64 // upper half of Hash.Hi, number of the spec
	A, B uint64 // the packed state
}

// Hash returns what identifies the entry; only the upper half of Hi is meant.
func (e *Entry) Hash() Hash { return Hash{Lo: e.hash, Hi: e.rest & identity} }

// Spec returns the number of the spec under which the state was written.
func (e *Entry) Spec() uint32 { return uint32(e.rest) }

// SetSpec sets what Spec returns.
func (e *Entry) SetSpec(id uint32) { e.rest = e.rest&identity | uint64(id) }

// Group is a set of entries, the first N of which are in use. tags holds the low byte of each entry's hash.
type Group struct {
	tags   [32]uint8 // whole words; GroupSize are used
	blocks [GroupSize / blockSize]uint32
	N      uint8
	nblock uint8
	depth  uint8 // how many leading bits of the hash its entries share
}

// Table is a shard's hash table. The zero Table is empty and ready. It is not safe for concurrent use.
type Table struct {
	Skip   uint8  // leading bits of the hash that chose the shard
	NGroup uint32 // number of groups
	N      int    // entries in use

	depth      uint8
	nblock     uint32
	dir        []uint32
	groups     []*[groupChunk]Group
	blocks     []*[blockChunk][blockSize]Entry
	freeBlocks []uint32
}

// Group returns the group with an index below NGroup.
func (t *Table) Group(gi uint32) *Group { return &t.groups[gi/groupChunk][gi%groupChunk] }

// Entry returns the entry in a slot of g below g.N, until entries move.
func (t *Table) Entry(g *Group, slot int) *Entry {
	b := g.blocks[slot/blockSize]
	return &t.blocks[b/blockChunk][b%blockChunk][slot%blockSize]
}

// Locate returns the group of h. The table must not be empty.
func (t *Table) Locate(h Hash) uint32 { return t.dir[h.Lo<<t.Skip>>(64-t.depth)] }

// Find returns the slot of h in g, or -1.
func (t *Table) Find(g *Group, h Hash) int {
	slot, _ := t.Choose(g, g.candidates(h), h)
	return slot
}

// Seek returns the group of h and the candidates for its slot as a mask, for Choose. It has the processor fetch the
// first of them: what the caller does in between costs no time while the memory answers.
func (t *Table) Seek(h Hash) (*Group, uint32) {
	if t.N == 0 {
		return nil, 0
	}
	g := t.Group(t.Locate(h))
	candidates := g.candidates(h)
	if candidates != 0 {
		prefetch(t.Entry(g, bits.TrailingZeros32(candidates)))
	}
	return g, candidates
}

// Choose returns the slot of h among the candidates, with its entry, or -1.
func (t *Table) Choose(g *Group, candidates uint32, h Hash) (int, *Entry) {
	for ; candidates != 0; candidates &= candidates - 1 {
		slot := bits.TrailingZeros32(candidates)
		if e := t.Entry(g, slot); e.hash == h.Lo && (e.rest^h.Hi)&identity == 0 {
			return slot, e
		}
	}
	return -1, nil
}

// candidates returns a mask of the slots whose tag is h's.
func (g *Group) candidates(h Hash) uint32 {
	tag := h.Lo & 0xff * ones
	m := equal(g.tags[0:8], tag) | equal(g.tags[8:16], tag)<<8 | equal(g.tags[16:24], tag)<<16 | equal(g.tags[24:32], tag)<<24
	return m & (1<<g.N - 1)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// equal returns a mask of eight bits: which of the eight tags are the one that fills the bytes of tag.
func equal(tags []uint8, tag uint64) uint32 {
	x := binary.LittleEndian.Uint64(tags) ^ tag
	differ := ((x &^ highs) + ^uint64(highs)) | x // the high bit of a byte tells that it is not zero
	return uint32((^differ & highs) >> 7 * 0x0102040810204080 >> 56)
}

// Add puts an entry for h at the end of g, which must have room.
func (t *Table) Add(g *Group, h Hash) *Entry {
	slot := int(g.N)
	if slot/blockSize == int(g.nblock) {
		g.blocks[g.nblock] = t.newBlock()
		g.nblock++
	}
	g.tags[slot] = uint8(h.Lo)
	g.N++
	t.N++
	e := t.Entry(g, slot)
	*e = Entry{hash: h.Lo, rest: h.Hi & identity}
	return e
}

// Remove takes the entry at slot out of g; the last one takes its place.
func (t *Table) Remove(g *Group, slot int) {
	last := int(g.N) - 1
	if slot != last {
		*t.Entry(g, slot) = *t.Entry(g, last)
		g.tags[slot] = g.tags[last]
	}
	g.tags[last] = 0
	g.N--
	t.N--
	if last%blockSize == 0 {
		g.nblock--
		t.freeBlocks = append(t.freeBlocks, g.blocks[g.nblock])
	}
}

// Split divides the group gi by the next bit of its entries' hashes. It reports false where that would make the
// directory far larger than its entries warrant: their hashes are then not random.
func (t *Table) Split(gi uint32) bool {
	g := t.Group(gi)
	if g.depth == t.depth && !t.double() {
		return false
	}
	newIndex := t.newGroup()
	upper := t.Group(newIndex)
	g.depth++
	upper.depth = g.depth
	first := t.Entry(g, 0).hash<<t.Skip>>(64-g.depth) | 1 // prefix of the upper half
	span := 1 << (t.depth - g.depth)
	for i := range span {
		t.dir[int(first)*span+i] = newIndex
	}
	for slot := int(g.N) - 1; slot >= 0; slot-- {
		e := *t.Entry(g, slot)
		if e.hash<<t.Skip>>(64-g.depth) == first {
			*t.Add(upper, e.Hash()) = e
			t.Remove(g, slot)
		}
	}
	return true
}

// double doubles the directory.
func (t *Table) double() bool {
	if len(t.dir) > 1024+4*t.N {
		return false
	}
	dir := make([]uint32, 2*len(t.dir))
	for i, v := range t.dir {
		dir[2*i], dir[2*i+1] = v, v
	}
	t.dir = dir
	t.depth++
	return true
}

func (t *Table) newGroup() uint32 {
	if t.NGroup%groupChunk == 0 {
		t.groups = append(t.groups, new([groupChunk]Group))
	}
	t.NGroup++
	return t.NGroup - 1
}

func (t *Table) newBlock() uint32 {
	if n := len(t.freeBlocks); n > 0 {
		b := t.freeBlocks[n-1]
		t.freeBlocks = t.freeBlocks[:n-1]
		return b
	}
	if t.nblock%blockChunk == 0 {
		t.blocks = append(t.blocks, new([blockChunk][blockSize]Entry))
	}
	t.nblock++
	return t.nblock - 1
}

// Init makes the first group of an empty table.
func (t *Table) Init() {
	if t.dir == nil {
		t.dir = []uint32{t.newGroup()}
	}
}

// Sparse reports whether the table holds far more memory than its entries need, as after a flood.
func (t *Table) Sparse() bool {
	used := (t.N + blockSize - 1) / blockSize
	return int(t.nblock) > 4*blockChunk && int(t.nblock) > 8*used
}

// Rebuild moves the entries to a table of their size and lets the old one go.
func (t *Table) Rebuild() {
	old := *t
	*t = Table{Skip: old.Skip}
	if old.N == 0 {
		return
	}
	t.Init()
	for gi := range old.NGroup {
		g := old.Group(gi)
		for slot := range int(g.N) {
			e := *old.Entry(g, slot)
			h := e.Hash()
			for {
				to := t.Locate(h)
				if t.Group(to).N < GroupSize {
					*t.Add(t.Group(to), h) = e
					break
				}
				if !t.Split(to) {
					*t = old
					return
				}
			}
		}
	}
}
