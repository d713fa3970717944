package memstore

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

var large = flag.Bool("large", false, "run the tests with tens of millions of keys (make large)")

// residentMB returns the resident memory of this process in megabytes, as the kernel counts it.
func residentMB(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatalf("the resident memory is read from /proc: %v", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb / 1000
}

// keyOf returns the n-th key of a flood. It makes no garbage but the string.
func keyOf(buf []byte, n int) string {
	return string(strconv.AppendInt(append(buf[:0], "user:"...), int64(n), 10))
}

// TestTenMillionKeys: 10,000,000 keys in at most 500 MB of resident memory, the garbage collector undisturbed.
func TestTenMillionKeys(t *testing.T) {
	keys, most := 200_000, 60
	if *large {
		keys, most = 10_000_000, 500
	}
	before := residentMB(t)
	s := testStore(t, 0)
	l := testLimiter(t, s, "100/d")
	buf := make([]byte, 0, 32)
	start := time.Now()
	for i := range keys {
		l.Allow(t.Context(), keyOf(buf, i))
	}
	took := time.Since(start)
	resident := residentMB(t)
	if got := s.Len(); got != keys {
		t.Fatalf("Len() = %d, want %d", got, keys)
	}
	start = time.Now()
	runtime.GC()
	t.Logf("%d keys: %d MB resident (%d before), %v per insertion, %v for a garbage collection", keys, resident, before, took/time.Duration(keys), time.Since(start))
	if resident-before > most {
		t.Errorf("%d keys take %d MB, want at most %d", keys, resident-before, most)
	}
}

// TestFloodOfDistinctKeys: far more keys than MaxKeys leave memory flat and the exhausted keys exhausted.
func TestFloodOfDistinctKeys(t *testing.T) {
	maxKeys, flood := 50_000, 500_000
	if *large {
		maxKeys, flood = 1_000_000, 50_000_000
	}
	s := testStore(t, maxKeys)
	l := testLimiter(t, s, "10/d")
	const exhausted = 100
	for i := range exhausted {
		takeN(t, l, "exhausted:"+strconv.Itoa(i), 10, true)
	}
	buf := make([]byte, 0, 32)
	flat := 0
	start := time.Now()
	for i := range flood {
		l.Allow(t.Context(), keyOf(buf, i))
		if i == 2*maxKeys {
			debug.FreeOSMemory()
			flat = residentMB(t)
		}
	}
	took := time.Since(start)
	debug.FreeOSMemory()
	resident := residentMB(t)
	t.Logf("%d distinct keys through MaxKeys %d: %d MB resident after twice MaxKeys, %d MB at the end, %v each", flood, maxKeys, flat, resident, took/time.Duration(flood))
	if resident > flat+flat/10+5 {
		t.Errorf("resident memory went from %d to %d MB", flat, resident)
	}
	if got := s.Len(); got > maxKeys {
		t.Errorf("Len() = %d, want at most %d", got, maxKeys)
	}
	for i := range exhausted {
		takeN(t, l, "exhausted:"+strconv.Itoa(i), 1, false)
	}
}
