package race

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// watch reads the count under WATCH, compares it here, and adds one in a transaction, which Redis drops when somebody
// else has written to the key since the WATCH: the race is lost.
type watch struct {
	client *redis.Client
	limit  int
}

// try decides once. Its error wraps [redis.TxFailedErr] when the race was lost: then nothing is decided.
func (w watch) try(ctx context.Context, key string) (bool, error) {
	allowed := false
	err := w.client.Watch(ctx, func(tx *redis.Tx) error {
		count, err := readCount(ctx, tx, key)
		if err != nil || count >= w.limit {
			return err
		}
		_, err = tx.TxPipelined(ctx, addOne(ctx, key))
		allowed = err == nil
		return err
	}, key)
	return allowed, err
}

// allowOnce takes a lost race for a refusal.
func (w watch) allowOnce(ctx context.Context, key string) (bool, error) {
	allowed, err := w.try(ctx, key)
	if errors.Is(err, redis.TxFailedErr) {
		return false, nil
	}
	return allowed, err
}

// retrier is [watch] that tries again after a lost race.
type retrier struct {
	watch
	retries *atomic.Int64
}

// allow tries until the transaction goes through or the count has reached the limit. Each race that it loses is an
// admission of somebody else, so that it cannot lose more than limit of them while nobody but the workers writes to
// the key.
func (r retrier) allow(ctx context.Context, key string) (bool, error) {
	for lost := 0; lost <= r.limit; lost++ {
		if lost > 0 {
			if err := pause(ctx, lost); err != nil {
				return false, err
			}
			r.retries.Add(1)
		}
		allowed, err := r.try(ctx, key)
		if !errors.Is(err, redis.TxFailedErr) {
			return allowed, err
		}
	}
	return false, fmt.Errorf("lost %d races for %d admissions: something else writes to %s", r.limit+1, r.limit, key)
}

// pause waits for a random time of up to 100 us after the first lost race, twice that after the next, and so on up to
// 1.6 ms, so that the losers do not meet again at once.
func pause(ctx context.Context, lost int) error {
	longest := 100 * time.Microsecond << min(lost-1, 4)
	timer := time.NewTimer(rand.N(longest))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
