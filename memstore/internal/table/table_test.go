package table

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestSizes(t *testing.T) {
	if got := unsafe.Sizeof(Entry{}); got != 32 {
		t.Errorf("an entry has %d bytes, want 32", got)
	}
	if got := unsafe.Sizeof(Group{}); got != 64 {
		t.Errorf("a group has %d bytes, want 64: a cache line", got)
	}
}

// insert adds an entry for h, which must be absent.
func insert(t *testing.T, table *Table, h Hash, value uint64) {
	t.Helper()
	table.Init()
	for {
		gi := table.Locate(h)
		if g := table.Group(gi); g.N < GroupSize {
			e := table.Add(g, h)
			e.A = value
			return
		}
		if !table.Split(gi) {
			t.Fatalf("Split(%d) = false", gi)
		}
	}
}

func lookup(table *Table, h Hash) (value uint64, ok bool) {
	if table.N == 0 {
		return 0, false
	}
	g := table.Group(table.Locate(h))
	slot := table.Find(g, h)
	if slot < 0 {
		return 0, false
	}
	return table.Entry(g, slot).A, true
}

// TestAgainstMap inserts, finds, removes and rebuilds at random and compares with a map.
func TestAgainstMap(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	table := Table{Skip: 8}
	want := make(map[Hash]uint64)
	var keys []Hash
	for step := range 200_000 {
		switch n := r.IntN(10); {
		case n < 5 || len(keys) == 0:
			h := Hash{Lo: r.Uint64() >> 8, Hi: r.Uint64() & identity}
			insert(t, &table, h, uint64(step))
			want[h] = uint64(step)
			keys = append(keys, h)
		case n < 9 || step%1000 != 0:
			i := r.IntN(len(keys))
			h := keys[i]
			if got, ok := lookup(&table, h); !ok || got != want[h] {
				t.Fatalf("seed %d step %d: lookup(%x) = %d, %v, want %d", seed, step, h, got, ok, want[h])
			}
			if r.IntN(3) > 0 {
				g := table.Group(table.Locate(h))
				table.Remove(g, table.Find(g, h))
				delete(want, h)
				keys[i] = keys[len(keys)-1]
				keys = keys[:len(keys)-1]
				if _, ok := lookup(&table, h); ok {
					t.Fatalf("seed %d step %d: lookup(%x) finds what was removed", seed, step, h)
				}
			}
		default:
			table.Rebuild()
		}
		if table.N != len(want) {
			t.Fatalf("seed %d step %d: N = %d, want %d", seed, step, table.N, len(want))
		}
	}
	for h, value := range want {
		if got, ok := lookup(&table, h); !ok || got != value {
			t.Fatalf("seed %d: lookup(%x) = %d, %v, want %d", seed, h, got, ok, value)
		}
	}
}

// TestPositionsAreDistinct: the entries of one subject are told apart.
func TestPositionsAreDistinct(t *testing.T) {
	seen := make(map[Hash]int)
	h := Hash{Lo: 42, Hi: 1 << 40}
	for i := range 16 {
		at := h.At(i)
		if j, ok := seen[at]; ok {
			t.Errorf("At(%d) = At(%d) = %x", i, j, at)
		}
		seen[at] = i
		if at.Lo != h.Lo {
			t.Errorf("At(%d).Lo = %x, want %x: another group", i, at.Lo, h.Lo)
		}
	}
}

// TestTagsAreNotIdentity: entries whose tags agree are told apart, whatever the order of their slots.
func TestTagsAreNotIdentity(t *testing.T) {
	var table Table
	for i := range uint64(20) {
		insert(t, &table, Hash{Lo: i<<56 | 0x80, Hi: 0}, i)
		insert(t, &table, Hash{Lo: i<<56 | 0x80, Hi: 1 << 63}, 100+i)
	}
	for i := range uint64(20) {
		for hi, want := range map[uint64]uint64{0: i, 1 << 63: 100 + i} {
			if got, ok := lookup(&table, Hash{Lo: i<<56 | 0x80, Hi: hi}); !ok || got != want {
				t.Errorf("lookup(%d, %x) = %d, %v, want %d", i, hi, got, ok, want)
			}
		}
	}
}

// TestLoad: the table stays well filled at every size, and a rebuild gives back what a flood took.
func TestLoad(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	var table Table
	var keys []Hash
	for n := 1; n <= 100_000; n++ {
		h := Hash{Lo: r.Uint64(), Hi: r.Uint64() & identity}
		insert(t, &table, h, 0)
		keys = append(keys, h)
		if n >= 1000 && n%1000 == 0 {
			if load := float64(n) / float64(table.nblock*blockSize); load < 0.85 {
				t.Errorf("%d entries fill %.2f of their blocks, want 0.85", n, load)
			}
		}
	}
	for _, h := range keys[1000:] {
		g := table.Group(table.Locate(h))
		table.Remove(g, table.Find(g, h))
	}
	if !table.Sparse() {
		t.Fatalf("Sparse() = false with %d entries in %d blocks", table.N, table.nblock)
	}
	table.Rebuild()
	if table.Sparse() || table.N != 1000 {
		t.Errorf("after Rebuild: Sparse() = %v, N = %d, want false, 1000", table.Sparse(), table.N)
	}
	for _, h := range keys[:1000] {
		if _, ok := lookup(&table, h); !ok {
			t.Fatalf("Rebuild lost %x", h)
		}
	}
}

// TestHashesThatDoNotDiffer: a group that no bit divides is an error of the caller's hash, not a directory without
// end.
func TestHashesThatDoNotDiffer(t *testing.T) {
	var table Table
	table.Init()
	for i := range uint64(GroupSize) {
		table.Add(table.Group(0), Hash{Lo: 1, Hi: i << 32})
	}
	for splits := 0; table.Split(table.Locate(Hash{Lo: 1})); splits++ {
		if splits > 64 {
			t.Fatalf("Split still divides after %d times, directory of %d", splits, len(table.dir))
		}
	}
	if len(table.dir) > 4096 {
		t.Errorf("%d entries have a directory of %d", table.N, len(table.dir))
	}
}
