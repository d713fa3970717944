package redisrivals

import (
	_ "embed"
	"fmt"
	"strconv"
)

// bucketScript is what a program runs that needs a token bucket in Redis and no library. redis-benchmark runs it too.
//
//go:embed bucket.lua
var bucketScript string

// bucket holds the script's arguments for a limit.
type bucket struct{ emissionMicros, burst string }

func newBucket(l Limit) bucket {
	return bucket{strconv.FormatInt(l.Period.Microseconds()/int64(l.Count), 10), strconv.Itoa(l.Count)}
}

// keySuffixes returns what tells n limits on one key apart.
func keySuffixes(n int) []string {
	suffixes := make([]string, n)
	for i := 1; i < n; i++ {
		suffixes[i] = fmt.Sprintf(":%d", i)
	}
	return suffixes
}
