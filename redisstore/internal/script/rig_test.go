package script

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/redistest"
)

// rig is a server that knows the script.
type rig struct {
	server *redistest.Server
	client *redis.Client
}

func startRig(tb testing.TB, config ...string) *rig {
	tb.Helper()
	return connect(tb, redistest.Start(tb, redistest.Options{Config: config}))
}

// connect returns a rig of a server that runs.
func connect(tb testing.TB, server *redistest.Server) *rig {
	tb.Helper()
	r := &rig{server: server, client: redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: 2})}
	tb.Cleanup(func() { r.client.Close() })
	r.load(tb)
	return r
}

func (r *rig) load(tb testing.TB) {
	tb.Helper()
	sha, err := r.client.ScriptLoad(context.Background(), Source).Result()
	if err != nil {
		tb.Fatal(err)
	}
	if sha != SHA {
		tb.Fatalf("SHA is %s, Redis says %s", SHA, sha)
	}
}

// do sends a command whose reply is not looked at.
func (r *rig) do(tb testing.TB, args ...any) {
	tb.Helper()
	if err := r.client.Do(context.Background(), args...).Err(); err != nil && !errors.Is(err, redis.Nil) {
		tb.Fatalf("%.100v: %v", args, err)
	}
}

// run runs the script for a batch.
func (r *rig) run(b *Batch) (*Reply, error) {
	args := []any{"EVALSHA", SHA, len(b.Keys())}
	for _, k := range b.Keys() {
		args = append(args, k)
	}
	for _, a := range b.Args() {
		args = append(args, a)
	}
	elements, err := r.client.Do(context.Background(), args...).Slice()
	if err != nil {
		return nil, err
	}
	reply := &Reply{}
	for _, e := range elements {
		switch e := e.(type) {
		case int64:
			if len(reply.Texts) > 0 {
				return nil, errors.New("an integer after a text")
			}
			reply.Ints = append(reply.Ints, e)
		case string:
			reply.Texts = append(reply.Texts, e)
		default:
			return nil, errors.New("the reply holds something else than integers and texts")
		}
	}
	return reply, b.Check(reply)
}

// request is one decision that is asked for.
type request struct {
	op    Op
	scope *Scope
	cost  int64
	key   string
}

// answer is what it brings.
type answer struct {
	row     []int64
	problem Problem
}

// timed is what the time of a batch is.
type timed struct {
	now   string
	guess int64
}

func at(micros int64) timed { return timed{strconv.FormatInt(micros, 10), micros} }

// realTime lets Redis tell the time.
func realTime() timed { return timed{"", time.Now().UnixMicro()} }

// once asks for all requests in one batch, and leaves problems as they are.
func (r *rig) once(tb testing.TB, when timed, requests ...request) []answer {
	tb.Helper()
	answers, err := r.ask(when, requests, make([]answer, len(requests)))
	if err != nil {
		tb.Fatal(err)
	}
	return answers
}

// mostRounds is how often a request may have to be asked for: once more for lists, and for each window that it needs.
const mostRounds = 3 + weir.MaxLimits

// all asks for all requests, and again for those whose problem has a remedy.
func (r *rig) all(tb testing.TB, when timed, requests ...request) []answer {
	tb.Helper()
	answers := r.once(tb, when, requests...)
	for range mostRounds {
		var again []request
		var before []answer
		var places []int
		for i, a := range answers {
			if a.problem.Kind == Window || a.problem.Kind == Lists {
				again, before, places = append(again, requests[i]), append(before, a), append(places, i)
			}
		}
		if again == nil {
			return answers
		}
		next, err := r.ask(when, again, before)
		if err != nil {
			tb.Fatal(err)
		}
		for i, place := range places {
			answers[place] = next[i]
		}
	}
	tb.Fatalf("the script asks for the same again and again: %+v", answers)
	return nil
}

func (r *rig) ask(when timed, requests []request, before []answer) ([]answer, error) {
	var b Batch
	b.Begin(when.now, when.guess)
	for i, q := range requests {
		if n := b.Add(q.op, q.scope, q.cost, q.key, before[i].problem); n != i {
			return nil, errors.New("the batch does not number its requests from 0")
		}
	}
	reply, err := r.run(&b)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(requests))
	for i := range requests {
		answers[i].row, answers[i].problem = b.Row(reply, i)
	}
	return answers, nil
}

// scopeOf returns the scope of limits written as in configuration.
func scopeOf(texts ...string) *Scope { return NewScope(specsOf(weir.MustParseLimits(texts...)...)) }

func specsOf(limits ...weir.Limit) []weir.Spec {
	specs := make([]weir.Spec, len(limits))
	for i, l := range limits {
		spec, err := weir.SpecOf(l)
		if err != nil {
			panic(err)
		}
		specs[i] = spec
	}
	return specs
}

// dump is all that the server holds.
func (r *rig) dump(tb testing.TB) map[string]string {
	tb.Helper()
	ctx := context.Background()
	keys, err := r.client.Keys(ctx, "*").Result()
	if err != nil {
		tb.Fatal(err)
	}
	all := make(map[string]string)
	for _, key := range keys {
		text, err := r.client.Dump(ctx, key).Result()
		if err != nil && !errors.Is(err, redis.Nil) { // it may expire in between
			tb.Fatal(err)
		}
		all[key] = text
	}
	return all
}

// ttl is how long a key still lives; negative for ever.
func (r *rig) ttl(tb testing.TB, key string) time.Duration {
	tb.Helper()
	ttl, err := r.client.PTTL(context.Background(), key).Result()
	if err != nil {
		tb.Fatal(err)
	}
	return ttl
}

// writes counts the commands that have written since the server began to count.
func (r *rig) writes(tb testing.TB) (n int) {
	tb.Helper()
	text, err := r.client.Info(context.Background(), "commandstats").Result()
	if err != nil {
		tb.Fatal(err)
	}
	for _, command := range []string{"set", "psetex", "del", "unlink", "rpush", "lset", "ltrim", "pexpire"} {
		if _, rest, ok := strings.Cut(text, "cmdstat_"+command+":calls="); ok {
			digits, _, _ := strings.Cut(rest, ",")
			calls, err := strconv.Atoi(digits)
			if err != nil {
				tb.Fatal(err)
			}
			n += calls
		}
	}
	return n
}
