package redisrivals

import (
	"errors"
	"fmt"
	"time"
)

// Limit admits Count at once, and Count per Period.
type Limit struct {
	Count  int
	Period time.Duration
}

// Limiter is a limiter under comparison.
type Limiter interface {
	// Allow takes one unit of key's quota and reports whether there was one. After an error nobody knows.
	Allow(key string) (bool, error)
	// Close gives the connections back.
	Close()
}

// ErrGaveUp is the error of a limiter that was outrun by others asking for the same key, and does not decide.
var ErrGaveUp = errors.New("redisrivals: the limiter gave up on a key that others ask for too")

// Rival is a kind of limiter.
type Rival struct {
	Name string
	// More are limits that it decides besides that of the workload, each of them on every key.
	More []Limit
	// New returns a limiter with all these limits on each key, in the server at address. It is told how many
	// goroutines will ask, for a client that opens connections by their number.
	New func(address string, callers int, limits []Limit) (Limiter, error)
	// Program is set for a rival that is a program of its own and asks by itself; New then makes a limiter that
	// asks for the same, for Check and Fill.
	Program func(*Server, *Workload, time.Duration) (Sample, error)
}

// All are the rivals. A library with one limit per call is asked three times for three.
var All = []Rival{
	{Name: "weir", New: newWeir},
	{Name: "weir, three limits", More: twoMore, New: newWeir},
	{Name: RedisRate, New: newRedisRate},
	{Name: "ulule/limiter", New: newUlule},
	{Name: "throttled", New: newThrottled},
	{Name: "go-chi/httprate-redis", New: newHTTPRate},
	{Name: "go-redis script", New: newGoRedisScript},
	{Name: "go-redis script, AutoPipeline", New: newAutoPipelineScript},
	{Name: "rueidis script", New: newRueidisScript},
	{Name: RedisBenchmark, New: newRueidisScript, Program: runRedisBenchmark},
	{Name: "redis_rate, three limits", More: twoMore, New: newRedisRate},
	{Name: "go-redis script, three limits", More: twoMore, New: newGoRedisScript},
	{Name: "rueidis script, three limits", More: twoMore, New: newRueidisScript},
}

// The rivals with which all are compared: the usual library, and Redis itself.
const (
	RedisRate      = "go-redis/redis_rate"
	RedisBenchmark = "redis-benchmark -P 16"
)

// twoMore are two limits that no workload reaches.
var twoMore = []Limit{{5000, 7 * 24 * time.Hour}, {20_000, 30 * 24 * time.Hour}}

// checkLimit is the limit of Check: so long that nothing comes back meanwhile.
var checkLimit = Limit{20, 24 * time.Hour}

// Check returns an error unless r's limiter admits on a fresh key exactly what its limit says, and tells keys apart.
// It empties the server.
func (r Rival) Check(s *Server) error {
	if err := s.Flush(); err != nil {
		return err
	}
	l, err := r.New(s.Address, 1, r.limits(checkLimit))
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	defer l.Close()
	for _, key := range []string{"check:a", "check:b"} {
		for i := range checkLimit.Count + 2 {
			got, err := l.Allow(key)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			if got != (i < checkLimit.Count) {
				return fmt.Errorf("%s with %d requests per key: Allow(%q) = %t after %d", r.Name, checkLimit.Count, key, got, i)
			}
		}
	}
	n, err := s.Keys()
	if err == nil && n < 2 {
		err = fmt.Errorf("%s decides on two keys, and the server has %d", r.Name, n)
	}
	return err
}

// limits returns first and those that r has besides.
func (r Rival) limits(first Limit) []Limit { return append([]Limit{first}, r.More...) }
