package race

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// unsafe reads the count, compares it here, and then adds one: whoever reads before another has written decides by a
// count that is out of date.
type unsafe struct {
	client *redis.Client
	limit  int
}

func (u unsafe) allow(ctx context.Context, key string) (bool, error) {
	count, err := readCount(ctx, u.client, key)
	if err != nil || count >= u.limit {
		return false, err
	}
	if _, err := u.client.TxPipelined(ctx, addOne(ctx, key)); err != nil {
		return false, err
	}
	return true, nil
}

// readCount returns the count of key, which is 0 before the first admission.
func readCount(ctx context.Context, c redis.Cmdable, key string) (int, error) {
	count, err := c.Get(ctx, key).Int()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return count, err
}

// addOne queues an admission. Counting and expiry go in one transaction, so that no key can be left without an expiry.
func addOne(ctx context.Context, key string) func(redis.Pipeliner) error {
	return func(p redis.Pipeliner) error {
		p.Incr(ctx, key)
		p.Expire(ctx, key, window)
		return nil
	}
}
