package redisrivals

import (
	"testing"
	"time"
)

func TestParseBenchmark(t *testing.T) {
	const head = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"` + "\n"
	const line = `"EVALSHA abc 1 key:__rand_int__ 864 1000","125000.00","5.733","0.520","5.991","7.663","7.951","8.503"` + "\n"
	got, err := parseBenchmark(head+line, 50_000)
	want := Sample{Decisions: 50_000, Took: 400 * time.Millisecond, P50: 5991 * time.Microsecond, P99: 7951 * time.Microsecond}
	if err != nil || got != want {
		t.Errorf("parseBenchmark = %+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{
		"", head, line, head + line + line, // nothing, or not what it should be
		head + `"EVALSHA","nan-sense","1","1","1","1","1","1"` + "\n",
		head + `"EVALSHA","0.00","1","1","1","1","1","1"` + "\n",
		`"test","rps"` + "\n" + `"EVALSHA","125000.00"` + "\n",
	} {
		if got, err := parseBenchmark(text, 1); err == nil {
			t.Errorf("parseBenchmark(%q) = %+v, want an error", text, got)
		}
	}
}

// TestBenchmarkFailsOnErrors: redis-benchmark counts no replies that are errors.
func TestBenchmarkFailsOnErrors(t *testing.T) {
	s := startServer(t)
	w := Workloads(10, 1)[0]
	if got, err := w.benchmark(s, "0123456789012345678901234567890123456789", 100); err == nil {
		t.Errorf("benchmark of a script that is not there = %+v, want an error", got)
	}
}
