package goredis_test

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/redisstore"
	"github.com/weirhq/weir/redisstore/goredis"
)

func TestMain(m *testing.M) {
	logging.Disable() // of what these tests do to servers
	goleak.VerifyTestMain(m)
}

// echo returns an integer, a text, an error and what it is given.
const echo = `return {1, 'two', redis.error_reply('ODD one'), -4, KEYS[1], ARGV[1], 9007199254740992}`

// count counts how often it is executed.
const count = `return {redis.call('INCR', KEYS[1])}`

func sum(source string) string {
	h := sha1.Sum([]byte(source))
	return hex.EncodeToString(h[:])
}

// run runs a script as a store does: by its sum, and by its text where that is not known.
func run(ctx context.Context, r *goredis.Runner, source, key string, into *redisstore.Reply) error {
	err := r.EvalSHA(ctx, sum(source), []string{key}, []string{"arg"}, into)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT ") {
		err = r.Eval(ctx, source, []string{key}, []string{"arg"}, into)
	}
	return err
}

// increment runs count with a deadline.
func increment(d time.Duration, r *goredis.Runner, key string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var reply redisstore.Reply
	if err := run(ctx, r, count, key, &reply); err != nil {
		return 0, err
	}
	if len(reply.Ints) != 1 {
		return 0, fmt.Errorf("got %+v", reply)
	}
	return reply.Ints[0], nil
}

// isOfRedis says that a server sent err.
func isOfRedis(err error) bool {
	_, ok := errors.AsType[interface {
		error
		RedisError()
	}](err)
	return ok
}

func checkRunner(t *testing.T, client redis.UniversalClient, clustered bool) {
	t.Helper()
	defer client.Close()
	r := goredis.New(client)
	if r.Clustered() != clustered {
		t.Errorf("%T is clustered: %v", client, r.Clustered())
	}
	ctx, cancel := context.WithTimeout(t.Context(), redistest.Patience)
	defer cancel()
	reply := redisstore.Reply{Ints: []int64{99}, Texts: []string{"old"}}
	want := redisstore.Reply{Ints: []int64{1, -4, 9007199254740992}, Texts: []string{"two", "ODD one", "weir:{1}", "arg"}}
	for range 2 { // the first time by its text
		if err := run(ctx, r, echo, "weir:{1}", &reply); err != nil || !reflect.DeepEqual(reply, want) {
			t.Fatalf("%T: got %+v, %v, want %+v", client, reply, err, want)
		}
	}
	for source, prefix := range map[string]string{
		"return redis.call('NONE')":                  "ERR ",
		"return redis.error_reply('READONLY it')":    "READONLY ",
		"return {1, redis.error_reply('OOM no'), 2}": "OOM ", // see EvalSHA
		"return {1, 2, 3}":                           "",
	} {
		err := r.Eval(ctx, source, []string{"weir:{1}"}, nil, &reply)
		if (err != nil) != (prefix != "") || err != nil && (!strings.HasPrefix(err.Error(), prefix) || !isOfRedis(err)) {
			t.Errorf("%T: %s: got %T %v", client, source, err, err)
		}
	}
	if !reflect.DeepEqual(reply.Ints, []int64{1, 2, 3}) && len(reply.Ints) > 0 {
		t.Errorf("%T: got %+v", client, reply)
	}
	for _, source := range []string{"return 1", "return 'text'", "return {1, {2}}", "return {false}"} {
		if err := r.Eval(ctx, source, []string{"weir:{1}"}, nil, &reply); err == nil || isOfRedis(err) || len(reply.Ints)+len(reply.Texts) > 0 {
			t.Errorf("%T: %s: got %+v, %v", client, source, reply, err)
		}
	}
	for range 20 { // nothing that was left unread is taken for a reply
		if err := run(ctx, r, echo, "weir:{1}", &reply); err != nil || !reflect.DeepEqual(reply, want) {
			t.Fatalf("%T: got %+v, %v, want %+v", client, reply, err, want)
		}
	}
}

func TestKinds(t *testing.T) {
	a, b := redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{})
	checkRunner(t, redis.NewClient(&redis.Options{Addr: a.Addr}), false)
	checkRunner(t, redis.NewClient(&redis.Options{Addr: a.Addr, Protocol: 2}), false)
	checkRunner(t, redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{a.Addr}}), false)
	checkRunner(t, redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": a.Addr, "b": b.Addr}}), true)
	type traced struct{ *redis.ClusterClient }
	cluster := redistest.StartCluster(t)
	checkRunner(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()}), true)
	checkRunner(t, traced{redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})}, true)
}

func TestSentinel(t *testing.T) {
	s := redistest.StartSentinel(t)
	checkRunner(t, redis.NewFailoverClient(&redis.FailoverOptions{MasterName: redistest.MasterName, SentinelAddrs: s.SentinelAddrs()}), false)

	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: redistest.MasterName, SentinelAddrs: s.SentinelAddrs(), ContextTimeoutEnabled: true})
	defer client.Close()
	r := goredis.New(client)
	if _, err := increment(redistest.Patience, r, "k"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Failover(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for {
		_, err := increment(100*time.Millisecond, r, "k")
		if err == nil {
			break
		}
		if time.Since(begun) > redistest.Patience {
			t.Fatal(err)
		}
	}
	t.Logf("it works %v after the failover", time.Since(begun))
}

// TestSlotMoves: a call finds its key while the slot is on its way to a node that has never seen the script.
func TestSlotMoves(t *testing.T) {
	cluster := redistest.StartCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer client.Close()
	r := goredis.New(client)
	slot := redistest.KeySlot("{moving}")
	from, err := cluster.MasterOf(slot)
	if err != nil {
		t.Fatal(err)
	}
	to := cluster.Nodes[0]
	if to == from {
		to = cluster.Nodes[1]
	}
	want := int64(0)
	check := func(moved int) {
		want++
		for i := range 10 {
			if n, err := increment(redistest.Patience, r, fmt.Sprint("{moving}", i)); err != nil || n != want {
				t.Errorf("with %d keys moved, key %d: got %d, %v, want %d", moved, i, n, err, want)
			}
		}
	}
	check(0)
	if err := cluster.MigrateSlot(slot, to, check); err != nil {
		t.Fatal(err)
	}
	check(10)
}

func TestErrors(t *testing.T) {
	s := redistest.Start(t, redistest.Options{User: redistest.User{Name: "weir", Password: "hunter2", Rules: "~weir:* +eval +evalsha +incr"}})
	for _, test := range []struct {
		user, password, key string
		want                string
	}{
		{"weir", "hunter2", "weir:{1}", ""},
		{"weir", "hunter2", "other", "NOPERM "},
		{"weir", "hunter3", "weir:{1}", "WRONGPASS "},
		{"", "", "weir:{1}", "NOAUTH "},
	} {
		client := redis.NewClient(&redis.Options{Addr: s.Addr, Username: test.user, Password: test.password})
		_, err := increment(redistest.Patience, goredis.New(client), test.key)
		if (err == nil) != (test.want == "") || err != nil && (!strings.HasPrefix(err.Error(), test.want) || !isOfRedis(err) || strings.Contains(err.Error(), "hunter")) {
			t.Errorf("%+v: got %T %v", test, err, err)
		}
		client.Close()
	}
}

// TestDeadline: with ContextTimeoutEnabled, a server that is stopped is waited for as long as the context says.
func TestDeadline(t *testing.T) {
	s := redistest.Start(t, redistest.Options{})
	client := redis.NewClient(&redis.Options{Addr: s.Addr, ContextTimeoutEnabled: true})
	defer client.Close()
	r := goredis.New(client)
	if _, err := increment(redistest.Patience, r, "k"); err != nil {
		t.Fatal(err)
	}
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		begun := time.Now()
		_, err := increment(50*time.Millisecond, r, "k")
		network, timeout := errors.AsType[net.Error](err)
		if took := time.Since(begun); took > 200*time.Millisecond || !timeout || !network.Timeout() {
			t.Errorf("got %v after %v", err, took)
		}
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for {
		if _, err := increment(50*time.Millisecond, r, "k"); err == nil {
			return
		} else if time.Since(begun) > time.Second {
			t.Fatal(err)
		}
	}
}

// TestNothingTwice: a script whose reply does not come is sent once, though go-redis by itself sends it up to four times.
func TestNothingTwice(t *testing.T) {
	for name, silent := range map[string]bool{"the connection ends": false, "nothing is said": true} {
		t.Run(name, func(t *testing.T) {
			s := startThief(t, silent)
			options := redis.Options{Addr: s.addr, ReadTimeout: 50 * time.Millisecond, MinRetryBackoff: -1, MaxRetryBackoff: -1}
			clients := map[string]redis.UniversalClient{
				"client": redis.NewClient(&options),
				"ring":   redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": s.addr}, ReadTimeout: 50 * time.Millisecond, MinRetryBackoff: -1, MaxRetryBackoff: -1, HeartbeatFrequency: time.Hour}),
				"cluster": redis.NewClusterClient(&redis.ClusterOptions{ReadTimeout: 50 * time.Millisecond, MinRetryBackoff: -1, MaxRetryBackoff: -1,
					ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
						return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: s.addr}}}}, nil
					}}),
			}
			for kind, client := range clients {
				defer client.Close()
				sent := func(send func() error) (n int64) {
					for range 20 { // on a busy machine connecting may take too long, and then nothing is sent
						before := s.scripts.Load()
						if err := send(); err == nil || isOfRedis(err) {
							t.Errorf("%s: got %v", kind, err)
						}
						if n = s.scripts.Load() - before; n > 0 {
							break
						}
					}
					return n
				}
				n := sent(func() error {
					return goredis.New(client).EvalSHA(t.Context(), sum(count), []string{"k"}, nil, new(redisstore.Reply))
				})
				if n != 1 {
					t.Errorf("%s: sent %d times", kind, n)
				}
				n = sent(func() error { return client.EvalSha(t.Context(), sum(count), []string{"k"}).Err() })
				if n < 2 {
					t.Errorf("%s: go-redis by itself sends it %d times: does this test still show anything?", kind, n)
				}
			}
		})
	}
}

// thief is a server that never answers scripts.
type thief struct {
	addr    string
	scripts atomic.Int64
}

func startThief(t *testing.T, silent bool) *thief {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &thief{addr: l.Addr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c, silent)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return s
}

// serve reads commands, which are arrays of strings.
func (s *thief) serve(c net.Conn, silent bool) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		var words int
		if _, err := fmt.Fscanf(r, "*%d\r\n", &words); err != nil {
			return
		}
		command := make([]string, words)
		for i := range command {
			var length int
			fmt.Fscanf(r, "$%d\r\n", &length)
			text := make([]byte, length+2)
			if _, err := io.ReadFull(r, text); err != nil {
				return
			}
			command[i] = string(text[:length])
		}
		switch strings.ToLower(command[0]) {
		case "evalsha":
			s.scripts.Add(1)
			if silent {
				continue
			}
			return
		case "hello":
			io.WriteString(c, "-ERR unknown command 'HELLO'\r\n")
		default:
			io.WriteString(c, "+OK\r\n")
		}
	}
}
