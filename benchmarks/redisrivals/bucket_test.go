package redisrivals

import (
	"context"
	"testing"
	"time"
)

// TestBucket: the script says what is left and when to come back, and its key lives until the bucket is full.
func TestBucket(t *testing.T) {
	s := startServer(t)
	ctx := context.Background()
	b := newBucket(Limit{2, time.Hour})
	const half = 30 * time.Minute
	for i, want := range []struct {
		allowed, remaining int64
		wait, life         time.Duration
	}{
		{1, 1, 0, half},
		{1, 0, 0, 2 * half},
		{0, 0, half, 2 * half},
		{0, 0, half, 2 * half},
	} {
		got, err := s.admin.Eval(ctx, bucketScript, []string{"bucket"}, b.emissionMicros, b.burst).Int64Slice()
		if err != nil || len(got) != 3 {
			t.Fatalf("the script replied %d, %v", got, err)
		}
		wait := time.Duration(got[2]) * time.Microsecond
		if got[0] != want.allowed || got[1] != want.remaining || wait > want.wait || wait < want.wait-time.Minute {
			t.Errorf("after %d the script replied %d, want %d %d %v", i, got, want.allowed, want.remaining, want.wait)
		}
		life, err := s.admin.PTTL(ctx, "bucket").Result()
		if err != nil || life > want.life || life < want.life-time.Minute {
			t.Errorf("after %d the key lives %v, %v; want about %v", i+1, life, err, want.life)
		}
	}
}
