package redisrivals

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// startServer skips the test where Redis is not installed, except in CI.
func startServer(t *testing.T) *Server {
	t.Helper()
	for _, program := range []string{"redis-server", "redis-benchmark"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		} else if os.Getenv("CI") != "" {
			t.Fatalf("%v: CI must install it", err)
		} else {
			t.Skipf("%v: install redis-server and redis-tools", err)
		}
	}
	s, err := StartServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestRivalsLimit: every rival tells the keys apart and refuses what is above its limit.
func TestRivalsLimit(t *testing.T) {
	s := startServer(t)
	for _, r := range All {
		if err := r.Check(s); err != nil {
			t.Error(err)
		}
	}
}

// inMemory is a limiter that limits, but not in Redis.
type inMemory struct {
	mu    sync.Mutex
	taken map[string]int
	limit int
	oneOf bool // one quota for all keys
}

func (l *inMemory) Allow(key string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.oneOf {
		key = ""
	}
	l.taken[key]++
	return l.taken[key] <= l.limit, nil
}

func (l *inMemory) Close() {}

func newInMemory(limit int, oneOf bool) func(string, int, []Limit) (Limiter, error) {
	return func(string, int, []Limit) (Limiter, error) {
		return &inMemory{taken: make(map[string]int), limit: limit, oneOf: oneOf}, nil
	}
}

// TestCheckFindsWhatDoesNotLimit: the check is one that can fail.
func TestCheckFindsWhatDoesNotLimit(t *testing.T) {
	s := startServer(t)
	for _, r := range []Rival{
		{Name: "admits too many", New: newInMemory(checkLimit.Count+1, false)},
		{Name: "refuses too many", New: newInMemory(checkLimit.Count-1, false)},
		{Name: "sees one key", New: newInMemory(checkLimit.Count, true)},
		{Name: "does not ask Redis", New: newInMemory(checkLimit.Count, false)},
	} {
		if r.Check(s) == nil {
			t.Errorf("Check of a limiter that %s = nil, want an error", r.Name)
		}
	}
}

// TestWorkloads: all rivals do the workloads with 1 and 64 callers, and Redis holds their keys.
func TestWorkloads(t *testing.T) {
	s := startServer(t)
	const keys, long = 1000, 50 * time.Millisecond
	for _, r := range All {
		for _, w := range Workloads(keys, 1) {
			if w.Callers > 64 || w.Hot && len(r.More) > 0 { // a key so hot would use up the other limits
				continue
			}
			if err := w.Fill(r, s); err != nil {
				t.Errorf("%s: Fill = %v", r.Name, err)
				continue
			}
			got, err := w.Measure(r, s, long)
			if err != nil {
				t.Errorf("%s, %d callers, hot %t: %v", r.Name, w.Callers, w.Hot, err)
				continue
			}
			if err := w.CheckKeys(r, s); err != nil {
				t.Errorf("%s: %v", r.Name, err)
			}
			if got.Decisions < 1 || got.P50 <= 0 || got.P99 < got.P50 || got.ServerCPU <= 0 || got.ClientCPU <= 0 {
				t.Errorf("%s, %d callers, hot %t: %+v, want figures above 0", r.Name, w.Callers, w.Hot, got)
			}
		}
	}
}

// TestMeasureFails: no figure comes from a limiter that refuses, or whose Redis has gone.
func TestMeasureFails(t *testing.T) {
	s := startServer(t)
	w := Workloads(10, 1)[1]
	refusing := Rival{Name: "refuses", New: newInMemory(3, false)}
	if _, err := w.Measure(refusing, s, 10*time.Millisecond); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("Measure of a limiter that refuses = %v, want an error that says so", err)
	}
	generous := Rival{Name: "admits", New: newInMemory(1<<40, false)}
	if err := w.CheckKeys(generous, s); err == nil {
		t.Error("CheckKeys with an empty server = nil, want an error")
	}
	s.Close()
	w = Workloads(10, 1)[0]
	if _, err := w.Measure(All[0], s, 10*time.Millisecond); err == nil {
		t.Error("Measure without a server = nil, want an error")
	}
}

// outrun gives up on every other request.
type outrun struct{ inMemory }

func (l *outrun) Allow(key string) (bool, error) {
	allowed, err := l.inMemory.Allow(key)
	if l.taken[key]%2 == 0 {
		return false, ErrGaveUp
	}
	return allowed, err
}

// TestGaveUp: who gives up has not decided.
func TestGaveUp(t *testing.T) {
	s := startServer(t)
	w := Workloads(1, 1)[0] // one caller, so that the bare look at taken is no race
	l := &outrun{inMemory{taken: make(map[string]int), limit: 1 << 40}}
	got, err := w.run(s, l, 10*time.Millisecond)
	if err != nil || got.GaveUp < got.Decisions-1 || got.GaveUp > got.Decisions+1 {
		t.Errorf("%d decisions and %d given up, %v; want half of each", got.Decisions, got.GaveUp, err)
	}
}
