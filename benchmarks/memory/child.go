package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/benchmarks/rivals"
)

// figures are what a child tells its parent.
type figures struct {
	Filled      float64 // resident bytes per key right after the last, garbage included
	Kept        float64 // after a collection that gave all free memory back
	CycleMillis float64 // from the start of a collection to its end
	PauseMicros float64 // for which it stopped the program
	FillSeconds float64
}

func beChild(name, size string) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rivals.All, func(r rivals.Rival) bool { return r.Name == name })
	if i < 0 {
		return fmt.Errorf("no limiter is named %q", name)
	}
	f, err := measure(rivals.All[i], n)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// measure lets n keys take one unit each and keeps none of them itself.
func measure(r rivals.Rival, n int) (figures, error) {
	debug.FreeOSMemory()
	base, err := residentBytes()
	if err != nil {
		return figures{}, err
	}
	l := r.New(rivals.PerHour)
	defer l.Close()
	start := time.Now()
	for i := range n {
		if !l.Allow(rivals.Key(i)) {
			return figures{}, fmt.Errorf("%s refuses the first request of key %d", r.Name, i)
		}
	}
	f := figures{FillSeconds: time.Since(start).Seconds()}
	filled, err := residentBytes()
	if err != nil {
		return figures{}, err
	}
	f.CycleMillis, f.PauseMicros = collect()
	debug.FreeOSMemory()
	kept, err := residentBytes()
	f.Filled, f.Kept = float64(filled-base)/float64(n), float64(kept-base)/float64(n)
	return f, err
}

// collect returns how long a collection took and for how long it stopped the program: the medians of five.
func collect() (millis, pauseMicros float64) {
	var cycles, pauses []time.Duration
	var before, after runtime.MemStats
	for range 5 {
		runtime.ReadMemStats(&before)
		start := time.Now()
		runtime.GC()
		cycles = append(cycles, time.Since(start))
		runtime.ReadMemStats(&after)
		pauses = append(pauses, time.Duration(after.PauseTotalNs-before.PauseTotalNs))
	}
	slices.Sort(cycles)
	slices.Sort(pauses)
	return float64(cycles[2].Microseconds()) / 1000, float64(pauses[2].Nanoseconds()) / 1000
}

// residentBytes returns the resident memory of this process as the kernel counts it.
func residentBytes() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("the resident memory is read from /proc: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("/proc/self/status has no VmRSS")
	}
	kb, err := strconv.Atoi(fields[0])
	return kb * 1024, err
}
