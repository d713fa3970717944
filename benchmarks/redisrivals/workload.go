package redisrivals

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// TableKeys is the number of keys in the large workloads.
const TableKeys = 100_000

// The limits of the workloads. They admit all, and a key lives on: a bucket of 1000 per second would be full again, and
// gone from Redis, a millisecond after each request, so that every request met an empty table. The table's keys stay for
// 86 seconds after one request; the hot key is asked for more often than the 1157 times a second that come back to it.
var (
	tableLimit = Limit{1000, 24 * time.Hour}
	hotLimit   = Limit{100_000_000, 24 * time.Hour}
)

// Workload says who asks for what.
type Workload struct {
	Callers int  // goroutines, each of which asks again when it has its answer
	Hot     bool // one key instead of keys at random

	keys []string
	seed uint64
}

// Workloads returns the six workloads over n keys. The order of the keys depends on the seed alone.
func Workloads(n int, seed uint64) []Workload {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(keyFormat, i)
	}
	var workloads []Workload
	for _, hot := range []bool{false, true} {
		for _, callers := range []int{1, 64, 512} {
			w := Workload{Callers: callers, Hot: hot, keys: keys, seed: seed}
			if hot {
				w.keys = keys[:1]
			}
			workloads = append(workloads, w)
		}
	}
	return workloads
}

// Keys returns how many keys the workload has.
func (w *Workload) Keys() int { return len(w.keys) }

// keyFormat is the form that redis-benchmark gives to its keys.
const keyFormat = "key:%012d"

// limit returns the limit of each key.
func (w *Workload) limit() Limit {
	if w.Hot {
		return hotLimit
	}
	return tableLimit
}

// fillers is how many ask at a time when a server is filled.
const fillers = 64

// Fill empties the server and lets r ask once for each key of the workload, so that what follows is the steady state.
func (w *Workload) Fill(r Rival, s *Server) error {
	if err := s.Flush(); err != nil {
		return err
	}
	l, err := r.New(s.Address, fillers, r.limits(w.limit()))
	if err != nil {
		return err
	}
	defer l.Close()
	var all sync.WaitGroup
	failures := make([]error, fillers)
	for f := range fillers {
		all.Go(func() {
			for i := f; i < len(w.keys) && failures[f] == nil; i += fillers {
				allowed, err := l.Allow(w.keys[i])
				if err == nil && !allowed {
					err = fmt.Errorf("the first request of %s is refused", w.keys[i])
				}
				failures[f] = err
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// CheckKeys returns an error unless the server holds about as many keys as r should have there.
func (w *Workload) CheckKeys(r Rival, s *Server) error {
	n, err := s.Keys()
	if low, high := len(w.keys), 2*len(w.keys)*(1+len(r.More)); err == nil && (n < low || n > high) {
		err = fmt.Errorf("the server has %d keys, want %d to %d", n, low, high)
	}
	return err
}

// Sample is what came of a workload.
type Sample struct {
	Decisions int // admitted ones, as all should be
	GaveUp    int // requests that ended with ErrGaveUp: they have taken time, but are no decisions
	Took      time.Duration
	P50, P99  time.Duration // from the request to the decision
	ServerCPU time.Duration // processor time of redis-server meanwhile
	ClientCPU time.Duration // processor time of this process or, for a program, of that
}

// Measure runs the workload with a new limiter of r on what the server holds.
func (w *Workload) Measure(r Rival, s *Server, d time.Duration) (Sample, error) {
	if r.Program != nil {
		return r.Program(s, w, d)
	}
	l, err := r.New(s.Address, w.Callers, r.limits(w.limit()))
	if err != nil {
		return Sample{}, err
	}
	defer l.Close()
	return w.run(s, l, d)
}

// run lets l decide for a fifth of d, and until every caller has been answered once and so has its connection; then it
// counts and measures for d.
func (w *Workload) run(s *Server, l Limiter, d time.Duration) (Sample, error) {
	callers := make([]caller, w.Callers)
	var state atomic.Int32
	var all, warm sync.WaitGroup
	warm.Add(w.Callers)
	for i := range callers {
		random := rand.New(rand.NewPCG(w.seed, uint64(i)))
		all.Go(func() {
			l.Allow(w.keys[random.IntN(len(w.keys))]) // what is wrong now will be wrong again
			warm.Done()
			callers[i].ask(l, w.keys, random, &state)
		})
	}
	time.Sleep(d / 5)
	warm.Wait()
	result, err := s.during(func() error {
		state.Store(counting)
		time.Sleep(d)
		return nil
	})
	state.Store(done)
	all.Wait()
	if err != nil {
		return result, err
	}
	var latencies Histogram
	for i := range callers {
		c := &callers[i]
		if c.failure != nil {
			return result, c.failure
		}
		result.Decisions += c.decisions
		result.GaveUp += c.gaveUp
		latencies.Merge(&c.latencies)
	}
	if result.Decisions == 0 {
		return result, fmt.Errorf("no decision in %v", d)
	}
	result.P50, result.P99 = latencies.Quantile(0.5), latencies.Quantile(0.99)
	return result, nil
}

// The states of a run, which begins with one in which nothing counts.
const (
	counting = 1
	done     = 2
)

// caller is one goroutine of a workload.
type caller struct {
	latencies         Histogram
	decisions, gaveUp int
	failure           error
}

// ask asks until it is told to end, or something fails. The clock is read once per decision: the end of one is the
// beginning of the next.
func (c *caller) ask(l Limiter, keys []string, random *rand.Rand, state *atomic.Int32) {
	for begin := time.Now(); ; {
		key := keys[random.IntN(len(keys))]
		allowed, err := l.Allow(key)
		end := time.Now()
		switch now := state.Load(); {
		case now == done:
			return
		case err != nil && !errors.Is(err, ErrGaveUp):
			c.failure = err
			return
		case err == nil && !allowed:
			c.failure = fmt.Errorf("%s is refused, where the limit was to admit all: use a shorter -duration", key)
			return
		case now == counting && err != nil:
			c.gaveUp++
		case now == counting:
			c.decisions++
			c.latencies.Add(end.Sub(begin))
		}
		begin = end
	}
}

// during does what body does, and measures how long it takes and what processor time the server and this process use
// meanwhile. What else goes on goes on while it looks, so that its own trips to the server shift the beginning like
// the end.
func (s *Server) during(body func() error) (Sample, error) {
	serverBefore, err := s.CPU()
	if err != nil {
		return Sample{}, err
	}
	clientBefore, start := ownCPU(), time.Now()
	if err := body(); err != nil {
		return Sample{}, err
	}
	took, clientAfter := time.Since(start), ownCPU()
	serverAfter, err := s.CPU()
	return Sample{Took: took, ServerCPU: serverAfter - serverBefore, ClientCPU: clientAfter - clientBefore}, err
}
