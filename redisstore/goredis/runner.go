package goredis

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir/redisstore"
)

// Runner runs scripts on a client of go-redis. It is safe for concurrent use.
type Runner struct {
	client    redis.UniversalClient
	clustered bool
}

var _ redisstore.Runner = (*Runner)(nil)

// New returns a runner on client, which may be of any kind: of one server, of a master that sentinels watch, of a
// cluster, or a ring. The client stays the caller's, who closes it. New panics if it is nil.
func New(client redis.UniversalClient) *Runner {
	if client == nil {
		panic("goredis: client is nil")
	}
	_, clustered := client.(interface {
		ForEachShard(context.Context, func(context.Context, *redis.Client) error) error
	})
	return &Runner{client: client, clustered: clustered}
}

// Clustered says that the keys of one call must share a slot, as on a cluster and a ring.
func (r *Runner) Clustered() bool { return r.clustered }

// EvalSHA runs the script with the SHA-1 sum sha. It clears into and fills it: with the integers of the array that the
// script returns, and with its strings and errors. But an error among the elements whose code go-redis knows, such as
// OOM or READONLY, is taken for the error of the whole: scripts return texts instead.
//
// What Redis answers instead of an array is an error whose text begins with its code, and which has the method
// RedisError, see [redis.Error]. After other errors it is unknown whether the script has run. The call may outlast ctx,
// see the package documentation. The bytes of keys and args must not change before it returns.
func (r *Runner) EvalSHA(ctx context.Context, sha string, keys, args []string, into *redisstore.Reply) error {
	return r.run(ctx, "evalsha", sha, keys, args, into)
}

// Eval is EvalSHA with the text of the script.
func (r *Runner) Eval(ctx context.Context, source string, keys, args []string, into *redisstore.Reply) error {
	return r.run(ctx, "eval", source, keys, args, into)
}

// command is one that is not repeated.
type command struct{ *redis.Cmd }

// NoRetry is heard by go-redis.
func (command) NoRetry() bool { return true }

func (r *Runner) run(ctx context.Context, name, text string, keys, args []string, into *redisstore.Reply) error {
	into.Clear()
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, name, text, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	for _, arg := range args {
		words = append(words, arg)
	}
	cmd := command{redis.NewCmd(ctx, words...)}
	if len(keys) > 0 {
		cmd.SetFirstKeyPos(3)
	}
	cmd.SetStepCount(1) // or a cluster client asks for it
	if err := r.client.Process(ctx, cmd); err != nil {
		return err
	}
	elements, ok := cmd.Val().([]any)
	if !ok {
		return fmt.Errorf("the script's reply is not an array but %T", cmd.Val())
	}
	for i, element := range elements {
		switch element := element.(type) {
		case int64:
			into.Ints = append(into.Ints, element)
		case string:
			into.Texts = append(into.Texts, element)
		case redis.Error:
			into.Texts = append(into.Texts, element.Error())
		default:
			into.Clear()
			return fmt.Errorf("element %d of the script's reply is not an integer or a text but %T", i, element)
		}
	}
	return nil
}
