package main

import (
	"testing"

	"github.com/weirhq/weir/benchmarks/rivals"
)

func TestMeasure(t *testing.T) {
	for i, r := range rivals.All {
		if !r.Keyed {
			continue
		}
		f, err := measure(r, 200_000)
		if err != nil {
			t.Fatal(err)
		}
		if f.CycleMillis <= 0 || f.FillSeconds <= 0 {
			t.Errorf("%s: %+v, want times above 0", r.Name, f)
		}
		// Later ones may have the memory of those before them.
		if i == 0 && (f.Kept < 30 || f.Kept > 100 || f.Filled < 30) {
			t.Errorf("%s: %+v, want 30 to 100 bytes per key", r.Name, f)
		}
	}
}
