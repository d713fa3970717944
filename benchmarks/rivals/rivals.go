package rivals

import "fmt"

// PerHour is the limit of every key in the workloads.
const PerHour = 100

// Limiter is a limiter under comparison.
type Limiter interface {
	// Allow takes one unit of key's quota and reports whether there was one.
	Allow(key string) bool
	// Close stops what the limiter runs in the background.
	Close()
}

// Rival is a kind of limiter.
type Rival struct {
	Name string
	// Keyed is false for a limiter that is one for everybody, and looks nothing up.
	Keyed bool
	// New returns a limiter that admits n requests at once for each key, and n per hour.
	New func(n int) Limiter
}

// All are the rivals with one limit per key; weir comes first.
var All = []Rival{
	{Name: "weir", Keyed: true, New: newWeir},
	{Name: "sethvargo/go-limiter", Keyed: true, New: newGoLimiter},
	{Name: "throttled", Keyed: true, New: newThrottled},
	{Name: "sync.Map of x/time/rate", Keyed: true, New: newRateMap},
	{Name: "ulule/limiter", Keyed: true, New: newUlule},
	{Name: "go-chi/httprate", Keyed: true, New: newHTTPRate},
	{Name: "x/time/rate, one limiter", New: newRate},
}

// WeirThree is weir with three limits on each key, which no rival decides in one step.
var WeirThree = Rival{Name: "weir, three limits", Keyed: true, New: newWeirThree}

// Check returns an error unless r's limiters tell the keys apart and refuse what is above the limit.
func (r Rival) Check(keys []string) error {
	if r.Keyed {
		l := r.New(1)
		defer l.Close()
		for _, want := range []bool{true, false} {
			for _, key := range keys {
				if got := l.Allow(key); got != want {
					return fmt.Errorf("%s with one request per key: Allow(%q) = %t, want %t", r.Name, key, got, want)
				}
			}
		}
	}
	l := r.New(PerHour)
	defer l.Close()
	for i := range PerHour + 1 {
		if got := l.Allow(keys[0]); got != (i < PerHour) {
			return fmt.Errorf("%s with %d requests per key: Allow = %t after %d", r.Name, PerHour, got, i)
		}
	}
	return nil
}
