package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/weirhq/weir/benchmarks/internal/report"
	"github.com/weirhq/weir/benchmarks/rivals"
)

// cell is one limiter under one workload, with a figure per decision for each round.
type cell struct {
	nanos, allocs, bytes []float64
}

type table struct {
	rivals    []rivals.Rival
	workloads []rivals.Workload
	cells     [][]cell // by rival, by workload
}

func newTable(contestants []rivals.Rival, workloads []rivals.Workload) *table {
	t := &table{rivals: contestants, workloads: workloads, cells: make([][]cell, len(contestants))}
	for i := range t.cells {
		t.cells[i] = make([]cell, len(workloads))
	}
	return t
}

// applies reports whether the workload makes sense for r.
func applies(r rivals.Rival, w rivals.Workload) bool { return r.Keyed || w.Hot }

// measure makes one round. Workload by workload, the limiters come one right after the other, each round another first.
func (t *table) measure(round int) error {
	for j := range t.workloads {
		for k := range t.rivals {
			i := (k + round) % len(t.rivals)
			if !applies(t.rivals[i], t.workloads[j]) {
				continue
			}
			if err := t.cells[i][j].measure(t.rivals[i], &t.workloads[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure times all decisions of a workload by a fresh limiter that knows the keys. The garbage of what came before is
// collected first; that of its own counts.
func (c *cell) measure(r rivals.Rival, w *rivals.Workload) error {
	l := r.New(rivals.PerHour)
	defer l.Close()
	w.Fill(l)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	admitted := w.Run(l, rivals.Decisions)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if l != (nothing{}) {
		if err := w.CheckAdmitted(admitted, rivals.Decisions); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	c.nanos = append(c.nanos, float64(took.Nanoseconds())/rivals.Decisions)
	c.allocs = append(c.allocs, float64(after.Mallocs-before.Mallocs)/rivals.Decisions)
	c.bytes = append(c.bytes, float64(after.TotalAlloc-before.TotalAlloc)/rivals.Decisions)
	return nil
}

var titles = map[string]string{
	"table/serial":   fmt.Sprintf("%d keys, serial", rivals.TableKeys),
	"table/parallel": fmt.Sprintf("%d keys, parallel", rivals.TableKeys),
	"hot/serial":     "one hot key, serial",
	"hot/parallel":   "one hot key, parallel",
}

func (t *table) markdown() string {
	var b strings.Builder
	b.WriteString("| limiter |")
	for _, w := range t.workloads {
		fmt.Fprintf(&b, " %s |", titles[w.Name])
	}
	b.WriteString(" allocs/op | B/op |\n|---|" + strings.Repeat("---:|", len(t.workloads)+2) + "\n")
	for i, r := range t.rivals {
		fmt.Fprintf(&b, "| %s |", r.Name)
		allocs, bytes := 0.0, 0.0
		for j := range t.workloads {
			c := &t.cells[i][j]
			if len(c.nanos) == 0 {
				b.WriteString(" – |")
				continue
			}
			fmt.Fprintf(&b, " %s |", c.against(&t.cells[0][j]))
			allocs, bytes = max(allocs, report.Median(c.allocs)), max(bytes, report.Median(c.bytes))
		}
		fmt.Fprintf(&b, " %.0f | %.0f |\n", allocs, bytes)
	}
	return b.String()
}

// against renders the cell: median, spread, and the median of the ratios to weir's time in the same round.
func (c *cell) against(weir *cell) string {
	ratios := make([]float64, len(c.nanos))
	for i := range ratios {
		ratios[i] = c.nanos[i] / weir.nanos[i]
	}
	return fmt.Sprintf("%.1f ±%.0f%%, **%.2f**", report.Median(c.nanos), 100*report.Spread(c.nanos), report.Median(ratios))
}
