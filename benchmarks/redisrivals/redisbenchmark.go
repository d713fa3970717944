package redisrivals

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// pipelined is how many requests each connection of redis-benchmark has under way.
const pipelined = 16

// runRedisBenchmark runs the plain bucket by redis-benchmark, which decides nothing by the answers: it is how fast one
// key per call can be. It takes a number of requests instead of a time, which a short run before tells, and its latency
// is that of a batch of requests.
func runRedisBenchmark(s *Server, w *Workload, d time.Duration) (Sample, error) {
	sha, err := s.admin.ScriptLoad(context.Background(), bucketScript).Result()
	if err != nil {
		return Sample{}, err
	}
	warm, err := w.benchmark(s, sha, max(int(20_000*d.Seconds()), 2*pipelined*w.Callers))
	if err != nil {
		return Sample{}, err
	}
	n := int(float64(warm.Decisions) * d.Seconds() / warm.Took.Seconds())
	return w.benchmark(s, sha, max(n, pipelined*w.Callers))
}

// benchmark makes n requests.
func (w *Workload) benchmark(s *Server, sha string, n int) (Sample, error) {
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return Sample{}, err
	}
	key, b := "key:__rand_int__", newBucket(w.limit())
	if w.Hot {
		key = w.keys[0]
	}
	command := exec.Command("redis-benchmark", "-h", host, "-p", port, "-n", strconv.Itoa(n), "-c", strconv.Itoa(w.Callers),
		"-P", strconv.Itoa(pipelined), "-r", strconv.Itoa(len(w.keys)), "--csv",
		"EVALSHA", sha, "1", key, b.emissionMicros, b.burst)
	var said strings.Builder
	command.Stderr = &said
	var out []byte
	around, err := s.during(func() (err error) {
		out, err = command.Output()
		return err
	})
	if err != nil {
		return Sample{}, fmt.Errorf("redis-benchmark: %w %s", err, said.String())
	}
	result, err := parseBenchmark(string(out), n)
	if err != nil {
		return Sample{}, fmt.Errorf("redis-benchmark: %w: %s%s", err, out, said.String())
	}
	result.ServerCPU = around.ServerCPU
	result.ClientCPU = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return result, nil
}

// parseBenchmark reads what redis-benchmark --csv prints about n requests.
func parseBenchmark(text string, n int) (Sample, error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return Sample{}, err
	}
	if len(lines) != 2 {
		return Sample{}, fmt.Errorf("%d lines instead of a head and one", len(lines))
	}
	value := func(name string) float64 {
		for i, head := range lines[0] {
			if head == name {
				v, parseErr := strconv.ParseFloat(lines[1][i], 64)
				err = errors.Join(err, parseErr)
				return v
			}
		}
		err = errors.Join(err, fmt.Errorf("no column is named %s", name))
		return 0
	}
	rate := value("rps")
	millis := func(name string) time.Duration { return time.Duration(value(name) * float64(time.Millisecond)) }
	result := Sample{Decisions: n, P50: millis("p50_latency_ms"), P99: millis("p99_latency_ms")}
	if err == nil && rate <= 0 {
		err = fmt.Errorf("%v requests per second", rate)
	}
	if err != nil {
		return Sample{}, err
	}
	result.Took = time.Duration(float64(n) / rate * float64(time.Second))
	return result, nil
}
