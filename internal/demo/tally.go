package demo

import (
	"sync"
	"time"
)

// tallySeconds is how far back the chart of the page reaches.
const tallySeconds = 60

// tally counts what was allowed and refused: in all, and in each of the last seconds since start.
type tally struct {
	start time.Time

	mu      sync.Mutex
	total   [2]int64               // allowed, refused
	seconds [tallySeconds][2]int64 // second n is at n % tallySeconds
	last    int64                  // the newest second that seconds holds
}

func newTally(start time.Time) *tally { return &tally{start: start} }

func (t *tally) count(now time.Time, allowed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := 1
	if allowed {
		i = 0
	}
	t.advanceLocked(now)
	t.total[i]++
	t.seconds[t.last%tallySeconds][i]++
}

// read returns the totals and the last seconds, oldest first; the last one is still going on.
func (t *tally) read(now time.Time) (allowed, refused int64, seconds [][2]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advanceLocked(now)
	seconds = make([][2]int64, tallySeconds)
	for i := range seconds {
		seconds[i] = t.seconds[(t.last+1+int64(i))%tallySeconds]
	}
	return t.total[0], t.total[1], seconds
}

// advanceLocked clears the seconds that have begun since the last call. mu must be held.
func (t *tally) advanceLocked(now time.Time) {
	second := int64(now.Sub(t.start) / time.Second)
	for n := max(t.last+1, second-tallySeconds+1); n <= second; n++ {
		t.seconds[n%tallySeconds] = [2]int64{}
	}
	t.last = max(t.last, second)
}
