package redisrivals

import (
	"math/bits"
	"time"
)

// Histogram counts durations in buckets that are at most 1/32 of their value wide. It has no lock: every goroutine
// fills its own, and they are added at the end. The zero value is empty.
type Histogram struct {
	counts [histogramSize]uint32
}

const (
	subBits       = 5 // a power of two has 2^subBits buckets
	subBuckets    = 1 << subBits
	longestBits   = 36 // 2^36 ns are a good minute
	histogramSize = (longestBits - subBits + 1) * subBuckets
)

// Add counts d; what is longer than a minute counts as a minute.
func (h *Histogram) Add(d time.Duration) { h.counts[bucketOf(d)]++ }

// Merge adds the counts of other.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
}

// Quantile returns the middle of the bucket in which the q-th part of the durations ends, and 0 for an empty histogram.
func (h *Histogram) Quantile(q float64) time.Duration {
	total := 0
	for _, n := range h.counts {
		total += int(n)
	}
	rank := min(int(q*float64(total)), total-1)
	if total == 0 {
		return 0
	}
	for i, n := range h.counts {
		if rank -= int(n); rank < 0 {
			return middleOf(i)
		}
	}
	panic("redisrivals: the counts changed meanwhile")
}

// bucketOf numbers the buckets: below 2^subBits ns they are one wide, from there on each power of two has as many, and
// each is twice as wide as in the power before.
func bucketOf(d time.Duration) int {
	n := min(uint64(max(d, 0)), 1<<longestBits-1)
	shift := max(bits.Len64(n)-1-subBits, 0)
	return shift<<subBits + int(n>>shift)
}

func middleOf(bucket int) time.Duration {
	shift := max(bucket>>subBits-1, 0)
	low := (bucket - shift<<subBits) << shift
	return time.Duration(low + (1<<shift-1)/2)
}
