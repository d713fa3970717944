package race

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir/internal/redistest"
)

// TestWaysAlone: without a race all of them count right, and no key is without an expiry.
func TestWaysAlone(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	client := connected(t, server, 2)
	const limit = 3
	for _, w := range ways(client, limit) {
		for i := range limit + 2 {
			allowed, err := w.allow(t.Context(), w.id)
			if want := i < limit; err != nil || allowed != want {
				t.Errorf("%s: request %d = %t, %v; want %t", w.id, i+1, allowed, err, want)
			}
			if ttl, err := client.PTTL(t.Context(), w.id).Result(); err != nil || ttl <= 0 || ttl > window {
				t.Errorf("%s: after request %d the key expires in %s, %v; want at most %s", w.id, i+1, ttl, err, window)
			}
		}
		if count, err := client.Get(t.Context(), w.id).Int(); err != nil || count != limit {
			t.Errorf("%s: Redis has counted %d, %v; want %d: a refusal writes nothing", w.id, count, err, limit)
		}
	}
}

// TestWaysCountInRedis: what the workers count is what Redis does.
func TestWaysCountInRedis(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	client := connected(t, server, 16)
	for _, w := range ways(client, 20) {
		c := contest{allow: w.allow, key: w.id, limit: 20, workers: 16, requests: 500}
		got, err := c.run(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", w.id, err)
		}
		if count, err := client.Get(t.Context(), w.id).Int(); err != nil || count != got.admitted {
			t.Errorf("%s: Redis has counted %d, %v; the workers %d", w.id, count, err, got.admitted)
		}
	}
}

// meddler writes to the key before every transaction, so that every race is lost.
type meddler struct {
	redis.Hook
	other *redis.Client
	key   string
}

func (m meddler) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (m meddler) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (m meddler) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := m.other.Set(ctx, m.key, 0, window).Err(); err != nil {
			return err
		}
		return next(ctx, cmds)
	}
}

func TestLostRaces(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	client := connected(t, server, 2)
	client.AddHook(meddler{other: connected(t, server, 1), key: "key"})
	const limit = 3
	ways := ways(client, limit)
	if allowed, err := ways[1].allow(t.Context(), "key"); allowed || err != nil {
		t.Errorf("WATCH without retry, always losing = %t, %v; want a refusal", allowed, err)
	}
	allowed, err := ways[2].allow(t.Context(), "key")
	if want := "lost 4 races for 3 admissions: something else writes to key"; allowed || err == nil || err.Error() != want {
		t.Errorf("WATCH with retry, always losing = %t, %v; want the error %q", allowed, err, want)
	}
	if got := ways[2].retries.Load(); got != limit {
		t.Errorf("%d retries, want %d", got, limit)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := pause(ctx, 1<<40); !errors.Is(err, context.Canceled) {
		t.Errorf("pause in a context that has ended: %v", err)
	}
}

func TestCounterScript(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	client := connected(t, server, 1)
	if _, err := server.Do("SCRIPT", "FLUSH"); err != nil {
		t.Fatal(err)
	}
	allow := counter{client, 1}.allow
	if allowed, err := allow(t.Context(), "key"); !allowed || err != nil {
		t.Errorf("on a Redis that does not know the script: %t, %v; want true", allowed, err)
	}
	if _, err := server.Do("SET", "key", "text"); err != nil {
		t.Fatal(err)
	}
	if allowed, err := allow(t.Context(), "key"); allowed || err == nil || !strings.Contains(err.Error(), "script") {
		t.Errorf("on a key that holds no number: %t, %v; want an error of the script", allowed, err)
	}
}
