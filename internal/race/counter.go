package race

import (
	"context"
	_ "embed"

	"github.com/redis/go-redis/v9"
)

//go:embed counter.lua
var counterSource string

var counterScript = redis.NewScript(counterSource)

// counter reads, compares and writes in a script, which Redis runs as a whole: no other command comes between.
type counter struct {
	client *redis.Client
	limit  int
}

func (c counter) allow(ctx context.Context, key string) (bool, error) {
	return counterScript.Run(ctx, c.client, []string{key}, c.limit, window.Milliseconds()).Bool()
}
