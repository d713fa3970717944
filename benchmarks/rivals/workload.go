package rivals

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// TableKeys is the number of keys in the large workloads: as many as a busy service sees.
const TableKeys = 1 << 17

// Decisions is how many decisions a fresh limiter makes before it is replaced. A key of the table is then met 16 times
// on average, and never PerHour times: all are admitted. The hot key is nearly always refused. So a fast limiter does
// the same work as a slow one.
const Decisions = 16 * TableKeys

// Workload says which keys are asked for, and by how many goroutines.
type Workload struct {
	Name     string
	Hot      bool // one key instead of TableKeys
	Parallel bool // GOMAXPROCS goroutines instead of one

	keys  []string
	asked string // streamLength keys in the order of the requests, each in a cell
}

// A request brings its key in memory of its own, which was just written: the keys of a stream lie one after the other,
// apart from the strings that made them known, so that the harness waits for no memory and no limiter recognises a key
// by its address. A cell holds a key and, in its last byte, its length. The stream is repeated.
const (
	cellSize     = 16
	streamLength = 4 * TableKeys
)

// streamOf returns the cells of streamLength keys.
func streamOf(key func() string) string {
	cells := make([]byte, streamLength*cellSize)
	for at := 0; at < len(cells); at += cellSize {
		cells[at+cellSize-1] = byte(copy(cells[at:at+cellSize-1], key()))
	}
	return string(cells)
}

// Workloads returns the four workloads over keys, of which there must be TableKeys. The order is random and always
// the same.
func Workloads(keys []string) []Workload {
	x := uint64(0x9e3779b97f4a7c15)
	table := streamOf(func() string {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return keys[(x>>32)%TableKeys]
	})
	hot := streamOf(func() string { return keys[0] })
	return []Workload{
		{Name: "table/serial", keys: keys, asked: table},
		{Name: "table/parallel", Parallel: true, keys: keys, asked: table},
		{Name: "hot/serial", Hot: true, keys: keys, asked: hot},
		{Name: "hot/parallel", Hot: true, Parallel: true, keys: keys, asked: hot},
	}
}

// Keys returns TableKeys distinct keys.
func Keys() []string {
	keys := make([]string, TableKeys)
	for i := range keys {
		keys[i] = Key(i)
	}
	return keys
}

// Key returns the i-th key.
func Key(i int) string { return "user:" + strconv.Itoa(i) }

// Fill makes the workload's keys known to l, so that what follows is the steady state.
func (w *Workload) Fill(l Limiter) {
	for _, key := range w.keys {
		l.Allow(key)
		if w.Hot {
			return
		}
	}
}

// chunk is how many decisions a goroutine takes up at a time: few enough that all end together.
const chunk = 1 << 10

// Run makes the first n decisions of the workload and returns how many were admitted.
func (w *Workload) Run(l Limiter, n int) (admitted int) {
	if !w.Parallel {
		for at := 0; at < n; at += chunk {
			admitted += w.decide(l, at, min(at+chunk, n))
		}
		return admitted
	}
	var next, total atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			admitted := 0
			for {
				end := int(next.Add(chunk))
				if end-chunk >= n {
					break
				}
				admitted += w.decide(l, end-chunk, min(end, n))
			}
			total.Add(int64(admitted))
		})
	}
	all.Wait()
	return int(total.Load())
}

// decide makes the decisions from begin to end, which are in one chunk.
func (w *Workload) decide(l Limiter, begin, end int) (admitted int) {
	cells := w.asked[begin%streamLength*cellSize:][:(end-begin)*cellSize]
	for len(cells) >= cellSize {
		if l.Allow(cells[:cells[cellSize-1]]) {
			admitted++
		}
		cells = cells[cellSize:]
	}
	return admitted
}

// CheckAdmitted returns an error if a filled limiter cannot have admitted so many of n decisions made in the last few
// minutes, n at least PerHour.
func (w *Workload) CheckAdmitted(admitted, n int) error {
	low, high := n, n
	if w.Hot {
		low, high = PerHour-1, PerHour+10 // some come back meanwhile
	}
	if admitted < low || admitted > high {
		return fmt.Errorf("%s: %d of %d admitted, want %d to %d", w.Name, admitted, n, low, high)
	}
	return nil
}
