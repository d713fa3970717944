package canonical

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// documented is the other side: the documented script, written again from its description. Its caller says what time it
// is, in epoch seconds.
const documented = `
local cap, rate, every, clock = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local state = redis.call('HMGET', KEYS[1], 'tokens', 'last_refill')
local have, since = tonumber(state[1]), tonumber(state[2])
if have == nil then have, since = cap, clock end
local n = math.floor((clock - since) / every)
if n > 0 then
  have = math.min(cap, have + (n * rate))
  since = since + (n * every)
end
local ok = 0
if have >= 1 then ok, have = 1, have - 1 end
redis.call('HMSET', KEYS[1], 'tokens', have, 'last_refill', since)
return {ok, have}`

// epoch is the time at which the tests with a clock of their own begin: a whole second in 2026.
const epoch int64 = 1_790_000_000_000_000

// rig is a bucket on a server, with both sides at it.
type rig struct {
	*testing.T
	ctx    context.Context
	client *redis.Client
	bucket *Bucket
	key    string
}

func newClient(t *testing.T) *redis.Client {
	server := redistest.Start(t, redistest.Options{})
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { client.Close() })
	return client
}

func newRig(t *testing.T, client *redis.Client, l Limit) *rig {
	t.Helper()
	b, err := New(l)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{T: t, ctx: t.Context(), client: client, bucket: b, key: "user:" + t.Name()}
}

var ourScript, theirScript = redis.NewScript(Source), redis.NewScript(documented)

// try runs our script.
func (r *rig) try(op Op, cost, now int64) (Outcome, error) {
	var args []any
	for _, arg := range r.bucket.Encode(op, cost, now) {
		args = append(args, arg)
	}
	values, err := ourScript.Run(r.ctx, r.client, []string{r.key}, args...).Slice()
	if err != nil {
		return Outcome{}, err
	}
	var reply script.Reply
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			reply.Ints = append(reply.Ints, v)
		case string:
			reply.Texts = append(reply.Texts, v)
		}
	}
	return Decode(&reply)
}

// ours is try where an error ends the test.
func (r *rig) ours(op Op, cost, now int64) Outcome {
	r.Helper()
	out, err := r.try(op, cost, now)
	if err != nil {
		r.Fatalf("%s %d at %d: %v", op, cost, now, err)
	}
	return out
}

// takes is a take of ours that asks only whether it was admitted.
func (r *rig) takes(cost, now int64) bool {
	r.Helper()
	return r.ours(Take, cost, now).RetryAfter == 0
}

// seconds is how the callers of the documented script write the time.
func seconds(micros int64) string { return strconv.FormatFloat(float64(micros)/1e6, 'f', -1, 64) }

// tryTheirs is a request of the other side; now is in epoch seconds.
func (r *rig) tryTheirs(now string) (bool, error) {
	l := r.bucket.Limit()
	args := []any{decimal(l.Capacity), decimal(l.Refill), decimal(l.Interval.Seconds()), now}
	reply, err := theirScript.Run(r.ctx, r.client, []string{r.key}, args...).Int64Slice()
	return err == nil && reply[0] == 1, err
}

// theirs is tryTheirs where an error ends the test.
func (r *rig) theirs(now int64) bool {
	r.Helper()
	admitted, err := r.tryTheirs(seconds(now))
	if err != nil {
		r.Fatalf("the documented script at %d: %v", now, err)
	}
	return admitted
}

// fields returns the two fields as they are stored, empty where there are none.
func (r *rig) fields() (tokens, last string) {
	r.Helper()
	m, err := r.client.HGetAll(r.ctx, r.key).Result()
	if err != nil {
		r.Fatal(err)
	}
	return m["tokens"], m["last_refill"]
}

func (r *rig) put(tokens, last string) {
	r.Helper()
	r.must(r.client.Del(r.ctx, r.key).Err())
	r.must(r.client.HSet(r.ctx, r.key, "tokens", tokens, "last_refill", last).Err())
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// ttl is the time until the key expires, negative if it does not.
func (r *rig) ttl() time.Duration {
	r.Helper()
	ttl, err := r.client.PTTL(r.ctx, r.key).Result()
	r.must(err)
	return ttl
}

// writes is how many writes the server has seen.
func (r *rig) writes() int64 {
	r.Helper()
	info, err := r.client.InfoMap(r.ctx, "persistence").Result()
	r.must(err)
	n, err := strconv.ParseInt(info["Persistence"]["rdb_changes_since_last_save"], 10, 64)
	r.must(err)
	return n
}

// keep is how long a key outlives its bucket's refill.
func keep(l Limit) time.Duration {
	steps := ceil(new(big.Rat).Quo(rat(decimal(l.Capacity)), rat(decimal(l.Refill))))
	if steps > int64(weir.MaxPeriod/l.Interval/10) {
		return weir.MaxPeriod
	}
	return max(10*time.Duration(steps)*l.Interval, time.Minute)
}

func rat(decimal string) *big.Rat {
	x, ok := new(big.Rat).SetString(decimal)
	if !ok {
		panic(fmt.Sprintf("%q is no number", decimal))
	}
	return x
}

func floor(x *big.Rat) int64 {
	return new(big.Int).Div(x.Num(), x.Denom()).Int64() // Euclidean: down, as denominators are positive
}

func ceil(x *big.Rat) int64 { return -floor(new(big.Rat).Neg(x)) }
