package script

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/redistest"
)

// everyKind are limits of 10 units that do not come back for a minute, and several at once.
var everyKind = [][]string{
	{"10/10m"}, {"10/10m stepwise"}, {"10/10m fixed-window"}, {"10/10m fixed-window anchored"},
	{"10/year fixed-window calendar UTC"}, {"10/10m sliding-window"}, {"10/10m sliding-log"},
	{"10/10m", "20/70m"}, {"10/10m", "20/10m", "30/10m", "40/10m"}, {"10/10m", "20/20m sliding-log", "30/20m stepwise"},
}

// TestNothingIsWrittenInVain: a refused take and a look change nothing, not even how long a key lives.
func TestNothingIsWrittenInVain(t *testing.T) {
	r := startRig(t)
	for _, texts := range everyKind {
		scope := scopeOf(texts...)
		for _, used := range []int64{0, 9} {
			key := fmt.Sprint(texts, used)
			if used > 0 {
				r.once(t, realTime(), request{Take, scope, used, key})
			}
			before, writes := r.dump(t), r.writes(t)
			answers := r.once(t, realTime(),
				request{Peek, scope, 1, key}, request{Peek, scope, 0, key}, request{Peek, scope, 11, key},
				request{Take, scope, 11, key}, request{Take, scope, 0, key}, request{Take, scope, weir.MaxQuota, key},
				request{Refund, scope, 0, key}, request{Charge, scope, 0, key})
			if used > 0 {
				for range 3 {
					answers = append(answers, r.once(t, realTime(),
						request{Take, scope, 2, key}, request{Take, scope, 2, key}, request{Take, scope, 9, key})...)
				}
			} else {
				answers = append(answers, r.once(t, realTime(), request{Refund, scope, 3, key}, request{Reset, scope, 0, key})...)
			}
			for _, a := range answers {
				if a.problem != (Problem{}) {
					t.Errorf("%v: got problem %+v", texts, a.problem)
				}
			}
			if after := r.dump(t); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("%v: got %q, want %q as before", texts, after, before)
			}
			if n := r.writes(t) - writes; n != 0 {
				t.Errorf("%v, %d used: got %d commands that write", texts, used, n)
			}
		}
	}
}

// TestChangedLimitsAreWrittenOnce: the first refused take under other limits writes, later ones and looks do not.
func TestChangedLimitsAreWrittenOnce(t *testing.T) {
	r := startRig(t)
	for _, texts := range everyKind {
		scope, key := scopeOf(texts...), fmt.Sprint(texts)
		r.all(t, realTime(), request{Take, scopeOf([]string{"9/9m", "9/9m stepwise", "9/9m sliding-log", "9/8m"}[:len(texts)]...), 9, key})
		for _, step := range []struct {
			op     Op
			writes bool
		}{{Peek, false}, {Take, true}, {Take, false}, {Peek, false}} {
			before := r.writes(t)
			a := r.all(t, realTime(), request{step.op, scope, 5, key})[0]
			if a.problem != (Problem{}) || a.row[1] <= 0 {
				t.Errorf("%v: %c 5 after 9: got %+v, want a wait", texts, step.op, a)
			}
			if wrote := r.writes(t) > before; wrote != step.writes {
				t.Errorf("%v: %c 5 after 9: wrote = %v, want %v", texts, step.op, wrote, step.writes)
			}
		}
	}
}

// TestEveryKeyExpires when its subject is fresh again, and not much later. Nothing is kept of a fresh subject.
func TestEveryKeyExpires(t *testing.T) {
	r := startRig(t)
	random := rand.New(rand.NewPCG(*seed, 2))
	for _, texts := range append(everyKind, []string{"1000/s"}, []string{"7/100ms sliding-log", "300/s"}) {
		scope, key := scopeOf(texts...), fmt.Sprint(texts)
		for range 60 {
			op := []Op{Take, Take, Take, Peek, Refund, Charge, Reset}[random.IntN(7)]
			requests := slices.Repeat([]request{{op, scope, random.Int64N(4), key}}, 1+random.IntN(3))
			began := time.Now()
			a := r.all(t, realTime(), requests...)[len(requests)-1]
			if a.problem != (Problem{}) {
				t.Fatalf("%v: %c: got problem %+v", texts, op, a.problem)
			}
			ttl := r.ttl(t, key)
			took := time.Since(began)
			var reset time.Duration
			for i := range len(a.row) / 3 {
				reset = max(reset, micros(a.row[3*i+2]))
			}
			if reset == 0 && ttl != -2 || reset > 0 && (ttl < reset-took-time.Millisecond && reset > took || ttl > reset+2*time.Millisecond) {
				t.Errorf("-seed=%d: %v: after %c %d: reset in %v, the key expires in %v, %v later", *seed, texts, op, requests[0].cost, reset, ttl, took)
			}
			for list := range r.dump(t) {
				if ttl := r.ttl(t, list); ttl == -1 || strings.HasPrefix(list, key+":") && ttl > reset+2*time.Millisecond {
					t.Errorf("-seed=%d: %v: after %c: %s expires in %v, reset is in %v", *seed, texts, op, list, ttl, reset)
				}
			}
		}
		r.do(t, "FLUSHALL")
	}
}

// TestForeignRecords are left alone, and so is nobody else.
func TestForeignRecords(t *testing.T) {
	r := startRig(t)
	double := func(numbers ...float64) (s string) {
		for _, x := range numbers {
			bits := math.Float64bits(x)
			for range 8 {
				s += string([]byte{byte(bits)})
				bits >>= 8
			}
		}
		return s
	}
	const head = "b,10,1,60000000;"
	good := double(5, 1)
	values := []string{
		"", "hello", ";", "17", head, head[:len(head)-1] + good, head + good[1:], head + good + "x",
		head + good + good, "|" + head[:4], "|" + head + good, head[:len(head)-1] + "|;" + good,
		head + double(-1, 1), head + double(0.5, 1), head + double(5, -1), head + double(5, 1.5),
		head + double(math.NaN(), 1), head + double(5, math.NaN()),
		head + double(math.Inf(1), 1), head + double(5, math.Inf(1)), head + double(horizon+1, 1),
		head + double(5, 1<<53), head + double(-0.5, 0.5),
		"b,9,1,60000000;" + double(horizon+1, 1), "b,9,1,60000000;" + double(0.5, 1), "b,0,1,60000000;" + good,
		"b,9,0,60000000;" + good,
		"b,9,1,0;" + good, "b,9,1,9999999999999999;" + good, "b,9007199254740991,1,2;" + good,
		"b,90071992547409910,1,1;" + good, "b,0x9,1,60000000;" + good,
		"b,9007199254740991,1000,2;" + good, "b,9007199254740991,1,1;" + good, "b,1,1000,9007199254740991;" + good,
		"f,9007199254740993,60000000;" + good,
		"f,9,9007199254740991;" + good, "f,9,0;" + good,
		"b,9,1;" + good, "b,9,1,6,6;" + good, "B,9,1,6;" + good, "z,9,6000000;" + good, "b,9,1,6 ;" + good,
		" b,9,1,6;" + good, "b,1e3,1,6;" + good,
		"s,9,1,60000000;" + double(0.5, 1), "s,9,1,60000000;" + double(52560001, 1),
		"s,9,1,3153600000000000;" + double(1, 1),
		"f,9,60000000;" + double(1, -5), "f,9,60000000;" + double(1<<53, 5), "f,9,60000000,1;" + good, "f,9;" + good,
		"a,9,60000000;" + double(1, 0.5), "a,9,60000000;" + double(math.NaN(), 5),
		"c,9,d,UTC;" + good, "c,9,d,UTC;" + double(5, 1, 6, 7), "c,9,d,UTC;" + double(5, 1, 4, 5),
		"c,9,d,UTC;" + double(5, 1, 0, 1e300), "c,9,d,UTC;" + double(5, 0.5, 0, 10),
		"w,9,60000000;" + double(1, 1<<42, 1), "w,9,60000000;" + double(1, 1, 1<<42),
		"w,4398046511104,60000000;" + double(1, 1, 1), "w,9,60000000;" + double(1, 1, -1),
		"l,9,60000000;" + double(5, 4, 1), "l,9,60000000;" + double(0, 0.5, 1), "l,9,60000000;" + double(0, 1<<53, 1),
		"l,9,60000000;" + double(-1, 4, 1),
	}
	scopes := []*Scope{scopeOf("10/10m"), scopeOf("10/10m", "20/10m"), scopeOf("10/10m fixed-window"), scopeOf("10/10m sliding-log")}
	if scopes[0].head != head {
		t.Fatalf("the head of a record: got %q, want %q", scopes[0].head, head)
	}
	for _, value := range values {
		for _, scope := range scopes {
			for _, op := range []Op{Take, Peek, Refund, Charge, Reset} {
				r.do(t, "FLUSHALL")
				r.do(t, "SET", "k", value)
				a := r.all(t, realTime(), request{op, scope, 1, "j"}, request{op, scope, 1, "k"}, request{op, scope, 1, "k"}, request{op, scope, 1, "l"})
				for i, want := range []ProblemKind{None, Foreign, Foreign, None} {
					// What can be read can be forgotten.
					if got := a[i].problem.Kind; got != want && (op != Reset || got != None) {
						t.Errorf("%c by %s, record %q: request %d: got %+v, want problem %d", op, scope.head, value, i, a[i], want)
					}
				}
				if got := r.client.Get(t.Context(), "k").Val(); got != value && (op != Reset || got != "") {
					t.Errorf("%c by %s: the record %q became %q", op, scope.head, value, got)
				}
			}
		}
	}
}

// TestOtherTypes: keys of another type are left alone.
func TestOtherTypes(t *testing.T) {
	r := startRig(t)
	const wrong = "WRONGTYPE Operation against a key holding the wrong kind of value"
	for _, texts := range everyKind {
		scope := scopeOf(texts...)
		for _, op := range []Op{Take, Peek, Refund, Charge, Reset} {
			r.do(t, "FLUSHALL")
			r.do(t, "HSET", "k", "a", "b")
			a := r.all(t, realTime(), request{op, scope, 1, "j"}, request{op, scope, 1, "k"}, request{op, scope, 1, "k"}, request{op, scope, 1, "l"})
			for i, want := range []Problem{{}, {Kind: Redis, Text: wrong}, {Kind: Redis, Text: wrong}, {}} {
				if a[i].problem != want {
					t.Errorf("%c by %v: request %d: got %+v, want %+v", op, texts, i, a[i], want)
				}
			}
			if got := r.client.HGet(t.Context(), "k", "a").Val(); got != "b" {
				t.Errorf("%c by %v: the hash is gone", op, texts)
			}
		}
	}
	// where the list of a log should be
	scope := scopeOf("10/10m sliding-log")
	for _, op := range []Op{Take, Charge} {
		r.do(t, "FLUSHALL")
		r.do(t, "SET", listKey("k", 0), "mine")
		a := r.once(t, realTime(), request{op, scope, 1, "k"}, request{op, scope, 1, "l"})
		if want := (Problem{Kind: Redis, Text: wrong}); a[0].problem != want || a[1].problem != (Problem{}) {
			t.Errorf("%c with a string for a list: got %+v", op, a)
		}
		if got := r.dump(t); len(got) != 3 {
			t.Errorf("%c with a string for a list: got keys %q", op, got)
		}
	}
}

// refusals is what happens while Redis takes no writes: nothing changes, and what writes nothing is decided.
func refusals(t *testing.T, r *rig, text string) {
	t.Helper()
	for _, texts := range everyKind {
		key := fmt.Sprint(texts)
		scope, changed := scopeOf(texts...), scopeOf("9/9m")
		before := fmt.Sprint(r.dump(t))
		requests := []request{
			{Peek, scope, 1, key}, {Take, scope, 1, key}, {Take, scope, 1, key}, {Take, scope, 11, key},
			{Take, scope, 0, key}, {Take, scope, 1, "new " + key},
			{Charge, scope, 1, key}, {Refund, scope, 1, key}, {Reset, scope, 0, key}, {Reset, scope, 0, "new " + key},
			{Take, changed, 9, key}, {Peek, changed, 9, key},
		}
		answers := r.all(t, realTime(), requests...)
		for i, refused := range []bool{false, true, true, false, false, true, true, true, true, false, true, false} {
			got := answers[i].problem
			if refused && (got.Kind != Redis || !strings.HasPrefix(got.Text, text)) || !refused && got != (Problem{}) {
				t.Errorf("%v: %c %d of %s: got %+v, want refused = %v", texts, requests[i].op, requests[i].cost, requests[i].key, answers[i], refused)
			}
		}
		if after := fmt.Sprint(r.dump(t)); after != before {
			t.Errorf("%v: got %q, want %q as before", texts, after, before)
		}
	}
}

// fill takes something from subjects of every kind.
func fill(t *testing.T, r *rig) {
	t.Helper()
	for _, texts := range everyKind {
		r.all(t, realTime(), request{Take, scopeOf(texts...), 7, fmt.Sprint(texts)})
	}
}

func TestOutOfMemory(t *testing.T) {
	r := startRig(t)
	fill(t, r)
	r.do(t, "CONFIG", "SET", "maxmemory", "1mb")
	r.do(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	// Redis deletes when it is full, and so does the script.
	for _, texts := range everyKind {
		if a := r.all(t, realTime(), request{Reset, scopeOf(texts...), 0, fmt.Sprint(texts)})[0]; a.problem != (Problem{}) {
			t.Errorf("%v: reset: got %+v", texts, a)
		}
	}
	r.do(t, "CONFIG", "SET", "maxmemory", "0")
	fill(t, r)
	r.do(t, "CONFIG", "SET", "maxmemory", "1mb")
	before := fmt.Sprint(r.dump(t))
	for _, texts := range everyKind {
		key := fmt.Sprint(texts)
		scope := scopeOf(texts...)
		requests := []request{
			{Peek, scope, 1, key}, {Take, scope, 1, key}, {Take, scope, 1, key}, {Take, scope, 11, key}, {Take, scope, 1, "new " + key},
			{Charge, scope, 1, key}, {Refund, scope, 1, key},
		}
		for i, a := range r.all(t, realTime(), requests...) {
			refused := requests[i].op != Peek && requests[i].cost < 11
			if refused != strings.HasPrefix(a.problem.Text, "OOM ") || !refused && a.problem != (Problem{}) {
				t.Errorf("%v: %c %d: got %+v, want refused = %v", texts, requests[i].op, requests[i].cost, a, refused)
			}
		}
	}
	if after := fmt.Sprint(r.dump(t)); after != before {
		t.Errorf("got %q, want %q as before", after, before)
	}
	r.do(t, "CONFIG", "SET", "maxmemory", "0")
	for _, texts := range everyKind {
		if a := r.all(t, realTime(), request{Take, scopeOf(texts...), 1, fmt.Sprint(texts)})[0]; a.problem != (Problem{}) || a.row[0] != 2 {
			t.Errorf("%v: take 1 after 7 and what was refused: got %+v, want 2 to remain", texts, a)
		}
	}
}

func TestTooFewReplicas(t *testing.T) {
	r := startRig(t)
	fill(t, r)
	r.do(t, "CONFIG", "SET", "min-replicas-to-write", "1")
	refusals(t, r, "NOREPLICAS ")
}

func TestReplica(t *testing.T) {
	master := startRig(t)
	fill(t, master)
	replica := connect(t, redistest.Start(t, redistest.Options{ReplicaOf: master.server}))
	want := fmt.Sprint(master.dump(t))
	for began := time.Now(); fmt.Sprint(replica.dump(t)) != want; {
		if time.Since(began) > redistest.Patience {
			t.Fatal("the replica has not caught up")
		}
	}
	refusals(t, replica, "READONLY ")
}

// TestEvictedLists: a log whose list is gone is fresh, and one whose record is gone too.
func TestEvictedLists(t *testing.T) {
	r := startRig(t)
	for _, texts := range [][]string{{"10/10m sliding-log"}, {"10/10m fixed-window", "10/10m sliding-log"}} {
		scope, n := scopeOf(texts...), len(texts)-1
		for _, gone := range []string{listKey("k", n), "k"} {
			for _, op := range []Op{Take, Peek, Charge, Refund} {
				r.do(t, "FLUSHALL")
				r.once(t, realTime(), request{Take, scope, 3, "k"})
				r.once(t, realTime(), request{Take, scope, 3, "k"})
				r.do(t, "DEL", gone)
				a := r.once(t, realTime(), request{op, scope, 2, "k"})[0]
				want := map[Op]int64{Take: 8, Peek: 10, Charge: 8, Refund: 10}[op]
				if a.problem != (Problem{}) || a.row[3*n] != want {
					t.Errorf("%v without %s: %c 2: got %+v, want %d to remain", texts, gone, op, a, want)
				}
				if a := r.once(t, realTime(), request{Take, scope, 1, "k"})[0]; a.problem != (Problem{}) || a.row[3*n] != want-1 {
					t.Errorf("%v without %s: %c 2, then take 1: got %+v, want %d to remain", texts, gone, op, a, want-1)
				}
			}
		}
	}
}

// TestForeignLists: what stands in a list and is no stamp.
func TestForeignLists(t *testing.T) {
	r := startRig(t)
	scope := scopeOf("10/10m sliding-log")
	for _, stamp := range []string{"", "hello", strings.Repeat("\xff", 16), strings.Repeat("\x00", 17)} {
		r.do(t, "FLUSHALL")
		r.once(t, realTime(), request{Take, scope, 3, "k"})
		r.do(t, "LSET", listKey("k", 0), 0, stamp)
		before := fmt.Sprint(r.dump(t))
		a := r.once(t, realTime(), request{Take, scope, 1, "k"}, request{Take, scope, 1, "l"})
		if a[0].problem.Kind != Foreign || a[1].problem != (Problem{}) {
			t.Errorf("stamp %q: got %+v, want it foreign", stamp, a)
		}
		r.do(t, "DEL", "l", listKey("l", 0))
		if after := fmt.Sprint(r.dump(t)); after != before {
			t.Errorf("stamp %q: got %q, want %q as before", stamp, after, before)
		}
	}
}

// TestLimitsBeyondTheScope are left as they are, and live on.
func TestLimitsBeyondTheScope(t *testing.T) {
	r := startRig(t)
	long, short := scopeOf("10/10m", "10/h sliding-log", "5/30m fixed-window anchored"), scopeOf("10/10m")
	r.once(t, realTime(), request{Take, long, 2, "k"})
	for _, op := range []Op{Take, Charge, Refund, Reset} {
		if a := r.once(t, realTime(), request{op, short, 1, "k"})[0]; a.problem != (Problem{}) {
			t.Errorf("%c by the short scope: got %+v", op, a)
		}
		if ttl := r.ttl(t, "k"); ttl < 59*time.Minute {
			t.Errorf("%c by the short scope: the key expires in %v, want an hour", op, ttl)
		}
	}
	a := r.once(t, realTime(), request{Peek, long, 1, "k"})[0]
	if a.problem != (Problem{}) || a.row[0] != 10 || a.row[3] != 8 || a.row[6] != 3 {
		t.Errorf("peek after take 2 by the long scope and a reset by the short one: got %+v, want 10, 8 and 3 to remain", a)
	}
	r.once(t, realTime(), request{Reset, long, 0, "k"})
	if got := r.dump(t); len(got) != 0 {
		t.Errorf("after a reset by the long scope: got %q", got)
	}
}

// TestListsAreAskedFor where the record has a log that the scope does not have.
func TestListsAreAskedFor(t *testing.T) {
	r := startRig(t)
	log, bucket := scopeOf("10/10m sliding-log"), scopeOf("10/10m")
	for _, op := range []Op{Take, Peek, Refund, Charge, Reset} {
		r.do(t, "FLUSHALL")
		r.once(t, realTime(), request{Take, log, 2, "k"})
		if a := r.once(t, realTime(), request{op, bucket, 1, "k"})[0]; a.problem.Kind != Lists {
			t.Errorf("%c by a bucket after a log: got %+v, want lists asked for", op, a)
		}
		if a := r.all(t, realTime(), request{op, bucket, 1, "k"})[0]; a.problem != (Problem{}) {
			t.Errorf("%c by a bucket after a log, with lists: got %+v", op, a)
		}
		if n, err := r.client.Exists(context.Background(), listKey("k", 0)).Result(); err != nil || n > 0 != (op == Peek) {
			t.Errorf("%c by a bucket after a log: the list exists = %v, %v", op, n, err)
		}
	}
}
