package redisrivals

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestHistogram compares quantiles with those of the sorted durations.
func TestHistogram(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var sorted []time.Duration
	parts := make([]Histogram, 3)
	for i := range 30_000 {
		d := time.Duration(math.Exp(random.Float64() * math.Log(10e9))) // 1 ns to 10 s
		sorted = append(sorted, d)
		parts[i%len(parts)].Add(d)
	}
	slices.Sort(sorted)
	var all Histogram
	for i := range parts {
		all.Merge(&parts[i])
	}
	for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
		want := sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
		got := all.Quantile(q)
		if off := math.Abs(float64(got - want)); off > float64(want)/(2*subBuckets)+1 {
			t.Errorf("Quantile(%v) = %v, want %v to a 64th", q, got, want)
		}
	}
}

func TestHistogramEnds(t *testing.T) {
	var h Histogram
	if got := h.Quantile(0.5); got != 0 {
		t.Errorf("Quantile of nothing = %v, want 0", got)
	}
	h.Add(-time.Second)
	if got := h.Quantile(1); got != 0 {
		t.Errorf("Quantile of a clock that went back = %v, want 0", got)
	}
	h.Add(time.Hour)
	if got, want := h.Quantile(1), time.Duration(1<<longestBits); got > want || got < want-want/subBuckets {
		t.Errorf("Quantile of an hour = %v, want about %v", got, want)
	}
	for n := range time.Duration(1 << 12) {
		if got := middleOf(bucketOf(n)); got > n+n/(2*subBuckets)+1 || got < n-n/(2*subBuckets)-1 {
			t.Errorf("%d is counted as %d", n, got)
		}
	}
}
