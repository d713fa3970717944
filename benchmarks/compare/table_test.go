package main

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/benchmarks/internal/report"
	"github.com/weirhq/weir/benchmarks/rivals"
)

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{[]float64{7}, 0.25, 7},
		{[]float64{7}, 0.5, 7},
		{[]float64{9, 1, 5}, 0.5, 5},
		{[]float64{1, 2, 4, 3}, 0.5, 2.5},
		{[]float64{5, 4, 3, 2, 1}, 0.75, 4},
		{[]float64{5, 4, 3, 2, 1}, 1, 5},
	} {
		if got := report.Quantile(test.values, test.q); got != test.want {
			t.Errorf("report.Quantile(%v, %v) = %v, want %v", test.values, test.q, got, test.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	table := newTable(
		[]rivals.Rival{{Name: "ours", Keyed: true}, {Name: "theirs"}},
		[]rivals.Workload{{Name: "table/serial"}, {Name: "hot/serial", Hot: true}},
	)
	none := []float64{0, 0}
	table.cells[0] = []cell{{[]float64{10, 10}, none, none}, {[]float64{20, 10}, none, none}}
	table.cells[1][1] = cell{[]float64{40, 30}, []float64{1, 1}, []float64{16, 16}}
	const want = `
| limiter | 131072 keys, serial | one hot key, serial | allocs/op | B/op |
|---|---:|---:|---:|---:|
| ours | 10.0 ±0%, **1.00** | 15.0 ±17%, **1.00** | 0 | 0 |
| theirs | – | 35.0 ±7%, **2.50** | 1 | 16 |
`
	if got := table.markdown(); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("markdown() =\n%s, want%s", got, want)
	}
}
