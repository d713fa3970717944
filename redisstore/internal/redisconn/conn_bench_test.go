package redisconn

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// BenchmarkConn compares batches of 64 keys over a Conn with the same over bare rueidis, which connects within calls.
func BenchmarkConn(b *testing.B) {
	s := redistest.Start(b, redistest.Options{})
	const source = `local r = {} for i = 1, 192 do r[i] = i end return r`
	keys := make([]string, 64)
	for i := range keys {
		keys[i] = fmt.Sprintf("weir:{1}:user:%d", i)
	}
	target := parse(b, s.URL())
	c := Open(target, Settings{})
	defer c.Close()
	if _, err := within(redistest.Patience, c, count, "k"); err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	if err := c.Eval(ctx, source, keys, nil, new(script.Reply)); err != nil {
		b.Fatal(err)
	}
	options := (&generation{target: target, settings: c.settings}).options()
	options.DialCtxFn = nil
	bare, err := rueidis.NewClient(options)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	sha := sum(source)
	for name, call := range map[string]func(ctx context.Context, reply *script.Reply) error{
		"weir": func(ctx context.Context, reply *script.Reply) error { return c.EvalSHA(ctx, sha, keys, nil, reply) },
		"bare": func(ctx context.Context, reply *script.Reply) error {
			reply.Clear()
			return read(bare.Do(ctx, bare.B().Evalsha().Sha1(sha).Numkeys(int64(len(keys))).Key(keys...).Build()), reply)
		},
		"wrapped": func(ctx context.Context, reply *script.Reply) error {
			return Wrap(bare).EvalSHA(ctx, sha, keys, nil, reply)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				var reply script.Reply
				for pb.Next() {
					ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
					if err := call(ctx, &reply); err != nil || len(reply.Ints) != 192 {
						b.Errorf("%d, %v", len(reply.Ints), err)
					}
					cancel()
				}
			})
		})
	}
}
