package redisconn

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/redisstore/internal/script"
)

// Wrapped runs scripts on a client that somebody else owns and closes. It is safe for concurrent use.
type Wrapped struct{ client rueidis.Client }

// Wrap returns a runner on client. The client decides how it connects and how long it waits: where it goes on after a
// call's context has ended, the call ends nevertheless, and what is left of it when the client lets go.
//
// With ClientOption.DisableRetry or without, rueidis does not repeat scripts.
func Wrap(client rueidis.Client) *Wrapped { return &Wrapped{client: client} }

var _ runner = (*Wrapped)(nil)

// Clustered says that the keys of one call must share a slot.
func (w *Wrapped) Clustered() bool { return w.client.Mode() == rueidis.ClientModeCluster }

// EvalSHA is [Conn.EvalSHA], but without [ErrClosed], and without a [ConnectError]: after every error but that of a
// server it is unknown whether the script has run.
func (w *Wrapped) EvalSHA(ctx context.Context, sha string, keys, args []string, into *script.Reply) error {
	return w.run(ctx, w.client.B().Evalsha().Sha1(sha).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build(), into)
}

// Eval is EvalSHA with the text of the script.
func (w *Wrapped) Eval(ctx context.Context, source string, keys, args []string, into *script.Reply) error {
	return w.run(ctx, w.client.B().Eval().Script(source).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build(), into)
}

func (w *Wrapped) run(ctx context.Context, cmd rueidis.Completed, into *script.Reply) error {
	into.Clear()
	results := make(chan rueidis.RedisResult, 1)
	go func() { results <- w.client.Do(ctx, cmd) }()
	var err error
	select {
	case r := <-results:
		if err = r.NonRedisError(); err == nil {
			return read(r, into)
		}
		if server, ok := rueidis.IsRedisErr(err); ok { // on connecting
			return refusedBy(server)
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	return fmt.Errorf("no reply from Redis: %w", err)
}
