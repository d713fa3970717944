package race

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// defaults are those of weir race.
func defaults(store string) Options {
	return Options{Store: store, Limit: 50, Workers: 64, Requests: 5000}
}

// connected returns a client of server for as many workers, until the test ends.
func connected(t *testing.T, server *redistest.Server, workers int) *redis.Client {
	t.Helper()
	client, name, err := open(server.URL(), workers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if err := connect(t.Context(), client, name, workers); err != nil {
		t.Fatal(err)
	}
	return client
}

// holdsNoKey fails the test if server has a key.
func holdsNoKey(t *testing.T, server *redistest.Server) {
	t.Helper()
	keys, err := server.Do("KEYS", "*")
	if err != nil {
		t.Fatal(err)
	}
	if keys, _ := keys.([]any); len(keys) > 0 {
		t.Errorf("Redis still holds %q, want no key", keys)
	}
}

// find returns what one way did.
func find(t *testing.T, r *Report, id string) Result {
	t.Helper()
	for _, w := range r.Ways {
		if w.Way == id {
			return w
		}
	}
	t.Fatalf("no way %q in %+v", id, r)
	return Result{}
}
