package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/benchmarks/internal/report"
	"github.com/weirhq/weir/benchmarks/redisrivals"
)

// cell is one limiter under one workload, with a figure of each kind for each round.
type cell struct {
	perSecond, gaveUp          []float64 // the latter is a part of all requests
	p50, p99                   []float64 // microseconds
	serverMicros, clientMicros []float64 // processor time per decision
}

func (c *cell) add(s redisrivals.Sample) {
	n := float64(s.Decisions)
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	c.perSecond = append(c.perSecond, n/s.Took.Seconds())
	c.gaveUp = append(c.gaveUp, float64(s.GaveUp)/(n+float64(s.GaveUp)))
	c.p50 = append(c.p50, micros(s.P50))
	c.p99 = append(c.p99, micros(s.P99))
	c.serverMicros = append(c.serverMicros, micros(s.ServerCPU)/n)
	c.clientMicros = append(c.clientMicros, micros(s.ClientCPU)/n)
}

type table struct {
	rivals    []redisrivals.Rival
	workloads []redisrivals.Workload
	seed      uint64
	cells     [][]cell // by rival, by workload
}

func newTable(contestants []redisrivals.Rival, workloads []redisrivals.Workload, seed uint64) *table {
	t := &table{rivals: contestants, workloads: workloads, seed: seed, cells: make([][]cell, len(contestants))}
	for i := range t.cells {
		t.cells[i] = make([]cell, len(workloads))
	}
	return t
}

// applies reports whether the workload is one for r. Several limits on a hot key would tell nothing new.
func applies(r redisrivals.Rival, w redisrivals.Workload) bool { return !w.Hot || len(r.More) == 0 }

// measure makes one round: first all limiters on many keys, then on one key, each time in an order of its own.
func (t *table) measure(ctx context.Context, s *redisrivals.Server, round int, d time.Duration) error {
	random := rand.New(rand.NewPCG(t.seed, uint64(round)))
	for _, hot := range []bool{false, true} {
		for _, i := range random.Perm(len(t.rivals)) {
			if err := t.measureRival(ctx, s, i, hot, d); err != nil {
				return fmt.Errorf("%s: %w", t.rivals[i].Name, err)
			}
		}
	}
	return nil
}

// measureRival lets the i-th rival fill the server once, and goes through the numbers of callers. The garbage of what
// came before is collected first; that of its own counts.
func (t *table) measureRival(ctx context.Context, s *redisrivals.Server, i int, hot bool, d time.Duration) error {
	r, filled := t.rivals[i], false
	for j := range t.workloads {
		w := &t.workloads[j]
		if w.Hot != hot || !applies(r, *w) {
			continue
		}
		if !filled {
			if err := w.Fill(r, s); err != nil {
				return err
			}
			filled = true
		}
		runtime.GC()
		sample, err := w.Measure(r, s, d)
		if err == nil {
			err = w.CheckKeys(r, s)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", title(w), err)
		}
		t.cells[i][j].add(sample)
	}
	return nil
}

func title(w *redisrivals.Workload) string {
	keys, callers := fmt.Sprintf("%d keys", w.Keys()), fmt.Sprintf("%d callers", w.Callers)
	if w.Hot {
		keys = "one hot key"
	}
	if w.Callers == 1 {
		callers = "1 caller"
	}
	return keys + ", " + callers
}

// markdown renders one table for each workload.
func (t *table) markdown() string {
	var b strings.Builder
	for j := range t.workloads {
		fmt.Fprintf(&b, "**%s**\n\n", title(&t.workloads[j]))
		b.WriteString("| limiter | decisions/s | to redis_rate | to redis-benchmark | p50 µs | p99 µs | Redis CPU µs | client CPU µs |\n")
		b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|\n")
		for i, r := range t.rivals {
			c := &t.cells[i][j]
			if len(c.perSecond) == 0 {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | **%s** | %s | %.0f | %.0f | %.1f | %.1f |\n", r.Name, c.rate(),
				c.to(t.named(redisrivals.RedisRate, j)), c.to(t.named(redisrivals.RedisBenchmark, j)),
				report.Median(c.p50), report.Median(c.p99), report.Median(c.serverMicros), report.Median(c.clientMicros))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// rate renders the decisions per second and their spread, and how many requests had none.
func (c *cell) rate() string {
	text := fmt.Sprintf("%.0f ±%.0f%%", report.Median(c.perSecond), 100*report.Spread(c.perSecond))
	if gaveUp := report.Median(c.gaveUp); gaveUp > 0 {
		text += fmt.Sprintf(" (%.2g%% gave up)", 100*gaveUp)
	}
	return text
}

// named returns the cell of the rival with the name, nil if it is left out.
func (t *table) named(name string, workload int) *cell {
	i := slices.IndexFunc(t.rivals, func(r redisrivals.Rival) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &t.cells[i][workload]
}

// to renders the median of the ratios to the other's decisions per second in the same round; above 1 is faster.
func (c *cell) to(other *cell) string {
	if other == nil {
		return "–"
	}
	ratios := make([]float64, len(c.perSecond))
	for i := range ratios {
		ratios[i] = c.perSecond[i] / other.perSecond[i]
	}
	return fmt.Sprintf("%.2f", report.Median(ratios))
}

// modules are those whose versions matter to the figures.
var modules = []string{
	"github.com/go-redis/redis_rate/v10",
	"github.com/ulule/limiter/v3",
	"github.com/throttled/throttled/v2",
	"github.com/go-chi/httprate-redis",
	"github.com/go-chi/httprate",
	"github.com/redis/go-redis/v9",
	"github.com/redis/rueidis",
}

func versionsOf(s *redisrivals.Server) (string, error) {
	redis, err := s.Version()
	if err != nil {
		return "", err
	}
	text := "Versions: Redis " + redis
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", fmt.Errorf("the program does not know of what it is built")
	}
	for _, m := range info.Deps {
		if slices.Contains(modules, m.Path) {
			text += ", " + strings.TrimPrefix(m.Path, "github.com/") + " " + m.Version
		}
	}
	return text + ".", nil
}
