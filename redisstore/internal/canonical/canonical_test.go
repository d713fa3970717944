package canonical

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore/internal/script"
)

// TestLimits: each number that is out of bounds is named with its bound.
func TestLimits(t *testing.T) {
	good := Limit{Capacity: 10, Refill: 1, Interval: time.Second}
	for _, c := range []struct {
		change func(*Limit)
		want   string // "" is a good limit
	}{
		{func(l *Limit) {}, ""},
		{func(l *Limit) { l.Capacity, l.Refill = weir.MaxQuota, 1e7 }, ""},
		{func(l *Limit) { l.Capacity, l.Refill, l.Interval = 1e6, 1e-6, time.Millisecond }, ""},
		{func(l *Limit) { l.Interval = 1500 * time.Millisecond }, ""},
		{func(l *Limit) { l.Capacity, l.Refill, l.Interval = 100, 1, weir.MaxPeriod/100 }, ""},
		{func(l *Limit) { l.Capacity = 0.9 }, "capacity 0.9 is not 1 or more; use at least 1: requests take whole tokens"},
		{func(l *Limit) { l.Capacity = math.NaN() }, "capacity NaN is not 1 or more"},
		{func(l *Limit) { l.Capacity = math.Inf(1) }, "capacity +Inf is above 9007199254740991; use a smaller one"},
		{func(l *Limit) { l.Refill = 0 }, "refill 0 is not 0.000001 or more; use more tokens in a longer interval"},
		{func(l *Limit) { l.Refill = math.NaN() }, "refill NaN is not 0.000001 or more"},
		{func(l *Limit) { l.Refill = 1e16 }, "refill 10000000000000000 is above 9007199254740991"},
		{func(l *Limit) { l.Capacity, l.Refill = 1e7, 9e-6 }, "refill 0.000009 is less than a 10^12th of the capacity"},
		{func(l *Limit) { l.Interval = 999 * time.Microsecond }, "interval 999µs is below 1ms"},
		{func(l *Limit) { l.Interval = weir.MaxPeriod + time.Microsecond }, "interval 876000h0m0.000001s is above 100 years"},
		{func(l *Limit) { l.Interval = time.Second / 3 }, "interval 333.333333ms is not a whole number of microseconds; use 333.333ms in all services"},
		{func(l *Limit) { l.Capacity, l.Interval = 101, weir.MaxPeriod/100 }, "capacity 101 takes more than 100 years to come back"},
	} {
		l := good
		c.change(&l)
		b, err := New(l)
		switch {
		case c.want == "" && (err != nil || b.Limit() != l):
			t.Errorf("New(%s): %v, %v", l, b, err)
		case c.want != "" && (!errors.Is(err, weir.ErrInvalidLimit) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), l.String())):
			t.Errorf("New(%s): %v, want %q", l, err, c.want)
		}
	}
}

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		limit Limit
		op    Op
		cost  int64
		now   int64
		want  string
	}{
		{Limit{Capacity: 10, Refill: 1, Interval: time.Second}, Take, 1, ServerClock, "take 1 10 1 1.000000 "},
		{Limit{Capacity: 2.5, Refill: 0.1, Interval: 1500 * time.Millisecond}, Peek, 0, epoch, "peek 0 2.5 0.1 1.500000 1790000000000000"},
		{Limit{Capacity: weir.MaxQuota, Refill: 1e15, Interval: weir.MaxPeriod / 10}, Charge, weir.MaxQuota, 0,
			"charge 9007199254740991 9007199254740991 1000000000000000 315360000.000000 0"},
	} {
		b, err := New(c.limit)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(b.Encode(c.op, c.cost, c.now), " "); got != c.want {
			t.Errorf("Encode(%s, %d, %d) of %s: %q, want %q", c.op, c.cost, c.now, c.limit, got, c.want)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		reply script.Reply
		want  Outcome
		err   error
	}{
		{script.Reply{Ints: []int64{3, 0, 7}}, Outcome{Remaining: 3, ResetAfter: 7 * time.Microsecond}, nil},
		{script.Reply{Ints: []int64{0, -1, 7}}, Outcome{RetryAfter: weir.Never, ResetAfter: 7 * time.Microsecond}, nil},
		{script.Reply{Texts: []string{"type", "list"}}, Outcome{}, ErrNotBucket},
		{script.Reply{Texts: []string{"other", "thing"}}, Outcome{}, ErrReply},
		{script.Reply{Ints: []int64{3, 0}}, Outcome{}, ErrReply},
		{script.Reply{Ints: []int64{3, 0, 7}, Texts: []string{"ERR"}}, Outcome{}, ErrReply},
		{script.Reply{}, Outcome{}, ErrReply},
	} {
		if got, err := Decode(&c.reply); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("Decode(%+v): %+v, %v, want %+v, %v", c.reply, got, err, c.want, c.err)
		}
	}
}

// TestNotBucket: what is no bucket is named and left alone. A reset repairs values, and deletes nothing of others.
func TestNotBucket(t *testing.T) {
	r := newRig(t, newClient(t), Limit{Capacity: 10, Refill: 1, Interval: time.Second})
	for _, c := range []struct {
		command string // that makes the key
		want    string
		resets  bool
	}{
		{"SET key 5", "it is a string, not a hash; limit under another key, or delete this one", false},
		{"RPUSH key 5 6", "it is a list, not a hash", false},
		{"HSET key name Ann", "the hash has 1 other fields than tokens and last_refill; limit under another key, or delete this one", false},
		{"HSET key tokens 5 last_refill 1790000000 capacity 10 rate 1", "the hash has 2 other fields", false},
		{"HSET key last_refill 1790000000", "the hash has no field tokens; reset the bucket or delete the key", true},
		{"HSET key tokens 5", "the hash has no field last_refill", true},
		{"HSET key tokens many last_refill 1790000000", `the field tokens is "many", not a finite number; reset the bucket or delete the key`, true},
		{"HSET key tokens nan last_refill 1790000000", `the field tokens is "nan", not a finite number`, true},
		{"HSET key tokens 1e999 last_refill 1790000000", `the field tokens is "1e999", not a finite number`, true},
		{"HSET key tokens 5 last_refill 2026-11-30", `the field last_refill is "2026-11-30", not a finite number`, true},
		{"HSET key tokens 5 last_refill -inf", `the field last_refill is "-inf", not a finite number`, true},
		{"HSET key tokens 5 last_refill " + strings.Repeat("x", 70), `"` + strings.Repeat("x", 64) + `"`, true},
	} {
		r.must(r.client.Del(r.ctx, r.key).Err())
		var args []any
		for word := range strings.FieldsSeq(strings.Replace(c.command, "key", r.key, 1)) {
			args = append(args, word)
		}
		r.must(r.client.Do(r.ctx, args...).Err())
		writes := r.writes()
		ops := []Op{Take, Peek, Refund, Charge}
		if !c.resets {
			ops = append(ops, Reset)
		}
		for _, op := range ops {
			if got, err := r.try(op, 1, epoch); !errors.Is(err, ErrNotBucket) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s; %s: %+v, %v, want %q", c.command, op, got, err, c.want)
			}
		}
		if r.writes() != writes {
			t.Errorf("%s: something was written", c.command)
		}
		if c.resets {
			r.ours(Reset, 0, epoch)
			if got := r.ours(Take, 10, epoch); got.RetryAfter != 0 {
				t.Errorf("%s: after the reset %+v", c.command, got)
			}
		}
	}
}

// TestServerErrors: an error of the server that says nothing of the key passes as it is.
func TestServerErrors(t *testing.T) {
	r := newRig(t, newClient(t), Limit{Capacity: 10, Refill: 1, Interval: time.Second})
	r.must(r.client.ConfigSet(r.ctx, "maxmemory", "1").Err())
	if _, err := r.try(Take, 1, ServerClock); err == nil || errors.Is(err, ErrNotBucket) || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("without memory: %v, want OOM", err)
	}
	r.must(r.client.ConfigSet(r.ctx, "maxmemory", "0").Err())
	r.must(r.client.Do(r.ctx, "ACL", "SETUSER", "default", "-hlen").Err())
	if _, err := r.try(Take, 1, ServerClock); err == nil || errors.Is(err, ErrNotBucket) || errors.Is(err, ErrReply) {
		t.Errorf("without permission: %v", err)
	}
}

// TestPeekIsReadOnly: a replica may run it.
func TestPeekIsReadOnly(t *testing.T) {
	r := newRig(t, newClient(t), Limit{Capacity: 10, Refill: 1, Interval: time.Second})
	for _, state := range [][2]string{{"", ""}, {"0", seconds(epoch)}, {"0", "1e300"}} {
		if state[0] != "" {
			r.put(state[0], state[1])
		}
		var args []any
		for _, arg := range r.bucket.Encode(Peek, 1, epoch) {
			args = append(args, arg)
		}
		err := r.client.EvalRO(r.ctx, Source, []string{r.key}, args...).Err()
		if err != nil && strings.Contains(err.Error(), "unknown command") {
			if os.Getenv("CI") != "" {
				t.Fatal("the server is older than EVAL_RO, and in CI nothing is skipped: ", err)
			}
			t.Skip("the server is older than EVAL_RO: ", err)
		}
		if err != nil {
			t.Errorf("state %v: %v", state, err)
		}
	}
}
