package main

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/benchmarks/internal/report"
	"github.com/weirhq/weir/benchmarks/redisrivals"
)

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{[]float64{7}, 0.25, 7},
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

// sample is one of a second, with 100 µs of Redis and 200 µs of the client for each of n decisions.
func sample(n, gaveUp int) redisrivals.Sample {
	each := time.Duration(n) * 100 * time.Microsecond
	return redisrivals.Sample{Decisions: n, GaveUp: gaveUp, Took: time.Second, P50: 1500 * time.Nanosecond,
		P99: 2 * time.Millisecond, ServerCPU: each, ClientCPU: 2 * each}
}

func TestMarkdown(t *testing.T) {
	more := []redisrivals.Limit{{Count: 1, Period: time.Hour}}
	workloads := redisrivals.Workloads(1000, 1)
	results := newTable(
		[]redisrivals.Rival{{Name: redisrivals.RedisRate}, {Name: redisrivals.RedisBenchmark}, {Name: "ours, two limits", More: more}},
		[]redisrivals.Workload{workloads[0], workloads[4]}, 1)
	for _, factor := range []int{1, 2, 3} {
		results.cells[0][0].add(sample(100*factor, 0))
		results.cells[1][0].add(sample(400*factor, 0))
		results.cells[2][0].add(sample(200*factor*factor, 0))
		results.cells[0][1].add(sample(250, 750))
		results.cells[1][1].add(sample(1000, 0))
	}
	const want = `
**1000 keys, 1 caller**

| limiter | decisions/s | to redis_rate | to redis-benchmark | p50 µs | p99 µs | Redis CPU µs | client CPU µs |
|---|---:|---:|---:|---:|---:|---:|---:|
| go-redis/redis_rate | 200 ±25% | **1.00** | 0.25 | 2 | 2000 | 100.0 | 200.0 |
| redis-benchmark -P 16 | 800 ±25% | **4.00** | 1.00 | 2 | 2000 | 100.0 | 200.0 |
| ours, two limits | 800 ±50% | **4.00** | 1.00 | 2 | 2000 | 100.0 | 200.0 |

**one hot key, 64 callers**

| limiter | decisions/s | to redis_rate | to redis-benchmark | p50 µs | p99 µs | Redis CPU µs | client CPU µs |
|---|---:|---:|---:|---:|---:|---:|---:|
| go-redis/redis_rate | 250 ±0% (75% gave up) | **1.00** | 0.25 | 2 | 2000 | 100.0 | 200.0 |
| redis-benchmark -P 16 | 1000 ±0% | **4.00** | 1.00 | 2 | 2000 | 100.0 | 200.0 |

`
	if got := results.markdown(); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("markdown() =\n%s, want%s", got, want)
	}
}

// TestMarkdownWithoutBase: a limiter can be measured alone.
func TestMarkdownWithoutBase(t *testing.T) {
	results := newTable([]redisrivals.Rival{{Name: "ours"}}, redisrivals.Workloads(1000, 1)[:1], 1)
	results.cells[0][0].add(sample(100, 0))
	if got, want := results.markdown(), "| ours | 100 ±0% | **–** | – | 2 | 2000 | 100.0 | 200.0 |\n"; !strings.Contains(got, want) {
		t.Errorf("markdown() =\n%s, want %s in it", got, want)
	}
}
