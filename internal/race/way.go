package race

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Allow decides about one request under key: whether it may pass. An error means that it could not decide.
type Allow func(ctx context.Context, key string) (bool, error)

// The ways, as [Result].Way names them.
const (
	wayUnsafe = "unsafe"
	wayWatch  = "watch"
	wayRetry  = "watch_retry"
	wayScript = "script"
)

// way is one way to enforce the limit.
type way struct {
	id       string
	title    string
	commands string // that it sends for a request that is admitted
	allow    Allow
	retries  *atomic.Int64 // nil when it never tries again
}

// ways returns the four ways in the order in which they run.
func ways(client *redis.Client, limit int) []way {
	w, retries := watch{client, limit}, new(atomic.Int64)
	return []way{
		{wayUnsafe, "GET, then INCR", "GET; MULTI INCR EXPIRE EXEC", unsafe{client, limit}.allow, nil},
		{wayWatch, "WATCH, no retry", "WATCH; GET; MULTI INCR EXPIRE EXEC", w.allowOnce, nil},
		{wayRetry, "WATCH, retried", "WATCH; GET; MULTI INCR EXPIRE EXEC, until EXEC goes through", retrier{w, retries}.allow, retries},
		atomically(counter{client, limit}.allow),
	}
}

// atomically is the way of deciding in one step within Redis, whatever script does it.
func atomically(allow Allow) way {
	return way{wayScript, "Lua script", "EVALSHA", allow, nil}
}
