package script

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBatchesAreSinglesInOrder: a batch answers and leaves behind what its requests do one by one.
func TestBatchesAreSinglesInOrder(t *testing.T) {
	r := startRig(t)
	random := rand.New(rand.NewPCG(*seed, 1))
	for story := range max(2, *steps/80) {
		var scopes [][]string
		for range 1 + random.IntN(6) {
			scopes = append(scopes, batchLimits(random))
		}
		now := random.Int64N(1 << 51)
		for step := range 12 {
			now += random.Int64N(2_000_000) - 200_000
			requests := batchRequests(random, scopes)
			name := func(world string) []request {
				named := slices.Clone(requests)
				for i := range named {
					named[i].key = fmt.Sprintf("%s%d:%s", world, story, named[i].key)
				}
				return named
			}
			before := make([]answer, len(requests))
			if random.IntN(3) == 0 {
				for i := range before {
					before[i].problem.Kind = Lists
				}
			}
			got, err := r.ask(at(now), name("batch"), before)
			if err != nil {
				t.Fatal(err)
			}
			for i, single := range name("single") {
				one, err := r.ask(at(now), []request{single}, before[i:i+1])
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got[i], one[0]) {
					t.Fatalf("-seed=%d: story %d, step %d: request %d of %d, %c %d of %s by %s\n got %+v\nwant %+v", *seed, story, step,
						i, len(requests), single.op, single.cost, single.key, single.scope.head, got[i], one[0])
				}
			}
			compareWorlds(t, r, fmt.Sprintf("-seed=%d: story %d, step %d", *seed, story, step))
		}
		r.do(t, "FLUSHALL")
	}
}

// batchLimits returns limits that are tight for a few requests a second, often smooth buckets alone.
func batchLimits(r *rand.Rand) []string {
	kinds := []string{
		"5/s", "7/3s burst 3", "20/10s", "3/s burst 10 stepwise", "10/3s fixed-window", "10/3s fixed-window anchored",
		"10/d fixed-window calendar UTC", "10/3s sliding-window", "10/3s sliding-log",
	}
	if r.IntN(3) > 0 {
		kinds = kinds[:3]
	}
	texts := make([]string, 1+r.IntN(4))
	for i := range texts {
		texts[i] = kinds[r.IntN(len(kinds))]
	}
	return texts
}

// batchRequests returns requests for few keys, equal ones of a group side by side.
func batchRequests(r *rand.Rand, scopes [][]string) (requests []request) {
	for range 1 + r.IntN(5) {
		q := request{op: []Op{Take, Take, Take, Take, Take, Peek, Refund, Charge, Reset}[r.IntN(9)], scope: scopeOf(scopes[r.IntN(len(scopes))]...)}
		q.cost = []int64{0, 1, 1, 1, 2, 3, 11}[r.IntN(7)]
		for key := range 5 {
			for range []int{0, 0, 1, 1, 2, 5}[r.IntN(6)] {
				q.key = fmt.Sprint("key", key)
				requests = append(requests, q)
			}
		}
	}
	return requests
}

// compareWorlds compares what is kept under keys that begin with batch and single.
func compareWorlds(t *testing.T, r *rig, when string) {
	t.Helper()
	all := r.dump(t)
	for key, text := range all {
		twin := strings.Replace(key, "batch", "single", 1)
		if twin == key {
			twin = strings.Replace(key, "single", "batch", 1)
		}
		if all[twin] != text {
			t.Fatalf("%s: %s holds %q, %s %q", when, key, text, twin, all[twin])
		}
		if ttl := r.ttl(t, key); ttl < 59*time.Minute {
			t.Fatalf("%s: %s expires in %v, want an hour and more", when, key, ttl)
		}
	}
}

// TestBatchIsReused: nothing of what was in a batch is left in it.
func TestBatchIsReused(t *testing.T) {
	var b Batch
	one, two := scopeOf("10/s"), scopeOf("10/s", "5/m sliding-log")
	b.Begin("", 0)
	for i := range 5 {
		b.Add(Take, one, 1, fmt.Sprint("a", i), Problem{})
	}
	b.Add(Charge, two, 3, "b", Problem{})
	if got := len(b.Args()); got != 1+2*6 || len(b.Keys()) != 5+3 {
		t.Errorf("5 takes and a charge: got arguments %q and keys %q", b.Args(), b.Keys())
	}
	if want := []string{"b", "b:0", "b:1"}; !slices.Equal(b.Keys()[5:], want) {
		t.Errorf("keys of a scope with a log: got %q, want %q", b.Keys()[5:], want)
	}
	b.Begin("7", 0)
	if !slices.Equal(b.Args(), []string{"7"}) || len(b.Keys()) != 0 {
		t.Errorf("after Begin: got arguments %q and keys %q", b.Args(), b.Keys())
	}
	if err := b.Check(&Reply{}); err != nil {
		t.Errorf("the empty reply to an empty batch: got %v", err)
	}
	if n := b.Add(Peek, two, 0, "c", Problem{}); n != 0 {
		t.Errorf("the first request after Begin: got number %d", n)
	}
}

// TestGroups: requests that differ only in their keys are sent together, others are not.
func TestGroups(t *testing.T) {
	one, twin := scopeOf("10/s"), scopeOf("10/s")
	for _, c := range []struct {
		name string
		add  func(b *Batch)
		want int
	}{
		{"same", func(b *Batch) { b.Add(Take, one, 1, "k", Problem{}) }, 1},
		{"operation", func(b *Batch) { b.Add(Peek, one, 1, "k", Problem{}) }, 2},
		{"scope", func(b *Batch) { b.Add(Take, twin, 1, "k", Problem{}) }, 2},
		{"cost", func(b *Batch) { b.Add(Take, one, 2, "k", Problem{}) }, 2},
		{"remedy", func(b *Batch) { b.Add(Take, one, 1, "k", Problem{Kind: Lists}) }, 2},
		{"after a remedy", func(b *Batch) {
			b.Add(Take, one, 1, "k", Problem{Kind: Lists})
			b.Add(Take, one, 1, "k", Problem{})
		}, 3},
		{"too many", func(b *Batch) {
			for range maxGroup {
				b.Add(Take, one, 1, "k", Problem{})
			}
		}, 2},
	} {
		var b Batch
		b.Begin("", 0)
		b.Add(Take, one, 1, "k", Problem{})
		c.add(&b)
		if got := (len(b.Args()) - 1) / 6; got != c.want {
			t.Errorf("%s: got %d groups, want %d", c.name, got, c.want)
		}
	}
}

// TestHotKeys: requests for one key side by side are decided one after the other, and written once.
func TestHotKeys(t *testing.T) {
	r := startRig(t)
	for _, texts := range everyKind {
		for _, known := range []int64{0, 1} {
			scope, key := scopeOf(texts...), fmt.Sprint(texts, known)
			if known > 0 {
				r.once(t, realTime(), request{Take, scope, 1, key})
			}
			before := r.writes(t)
			requests := append(slices.Repeat([]request{{Take, scope, 1, key}}, 13), request{Take, scope, 1, "other " + key})
			answers := r.once(t, realTime(), requests...)
			for i, a := range answers[:13] {
				left := max(0, 9-known-int64(i))
				if refused := int64(i) >= 10-known; a.problem != (Problem{}) || a.row[0] != left || a.row[1] > 0 != refused {
					t.Errorf("%v: take %d after %d: got %+v, want %d to remain, refused = %v", texts, i+1, known, a, left, refused)
				}
			}
			if a := answers[13]; a.problem != (Problem{}) || a.row[0] != 9 {
				t.Errorf("%v: the key after it: got %+v, want 9 to remain", texts, a)
			}
			if n := r.writes(t) - before; !scope.log && n != 2 {
				t.Errorf("%v: got %d writes for two keys", texts, n)
			}
		}
	}
}

// TestManyRequests: a batch may be larger than what Lua takes as arguments of one call.
func TestManyRequests(t *testing.T) {
	r := startRig(t)
	scope := scopeOf("10/s", "5/h fixed-window")
	var requests []request
	for i := range 20_000 {
		requests = append(requests, request{Take, scope, 1, fmt.Sprint("key", i/3)})
	}
	for i, a := range r.once(t, at(0), requests...) {
		if want := int64(4 - i%3); i < 19_998 && (a.problem != Problem{} || a.row[3] != want) {
			t.Fatalf("request %d: got %+v, want %d to remain", i, a, want)
		}
	}
}

func TestEmptyBatch(t *testing.T) {
	r := startRig(t)
	if got := r.once(t, realTime()); len(got) != 0 {
		t.Errorf("got %v for no requests", got)
	}
}

func TestCheck(t *testing.T) {
	var b Batch
	b.Begin("", 0)
	b.Add(Take, scopeOf("10/s", "9/s"), 1, "k", Problem{})
	b.Add(Take, scopeOf("10/s"), 1, "k", Problem{})
	for _, c := range []struct {
		reply Reply
		want  string // of the error
	}{
		{Reply{Ints: []int64{1, 0, 3, 4, 0, 6, 7, -1, 9}}, ""},
		{Reply{Ints: []int64{-4, 1, 0, 0, 0, 0, -1, 77, 0}, Texts: []string{"OOM"}}, ""},
		{Reply{}, "script: got 0 integers for 2 requests, want 9"},
		{Reply{Ints: make([]int64, 10)}, "script: got 10 integers for 2 requests, want 9"},
		{Reply{Ints: []int64{1, 0, 3, 4, 0, 6, -4, 1, 9}}, "script: request 1: got text 1 of 0"},
		{Reply{Ints: []int64{-4, 0, 3, 4, 0, 6, 0, 0, 9}, Texts: []string{"x"}}, "script: request 0: got text 0 of 1"},
		{Reply{Ints: []int64{1, 0, 3, 4, 0, 6, -5, 1, 9}}, "script: request 1: unknown code -5"},
	} {
		if err := b.Check(&c.reply); fmt.Sprint(err) != c.want && (err != nil || c.want != "") {
			t.Errorf("%+v: got error %v, want %q", c.reply, err, c.want)
		}
	}
	r := Reply{Ints: []int64{-4, 1, 0, 0, 0, 0, -1, 77, 0}, Texts: []string{"@user_script: 12: -OOM no memory.\r\n"}}
	if row, p := b.Row(&r, 0); row != nil || p.Kind != Redis || p.Text != "OOM no memory." {
		t.Errorf("Row of an error: got %v, %+v", row, p)
	}
	if row, p := b.Row(&r, 1); row != nil || p.Kind != Window || p.Time != 77 {
		t.Errorf("Row of a missing window: got %v, %+v", row, p)
	}
}

// TestCalendarsAreRemembered: the bounds around one time are found once.
func TestCalendarsAreRemembered(t *testing.T) {
	s := scopeOf("5/d fixed-window calendar Europe/Berlin", "7/month")
	noon := time.Date(2024, 3, 10, 12, 0, 0, 0, time.UTC).UnixMicro()
	day := time.Date(2024, 3, 9, 23, 0, 0, 0, time.UTC).UnixMicro()
	want := fmt.Sprintf("%d,%d,%d,%d,", day-86400e6, day, day+86400e6, day+2*86400e6)
	got := s.boundsAt(noon)
	if !strings.HasPrefix(got, want) || strings.Count(got, ",") != 8 {
		t.Errorf("bounds: got %s, want %s and those of months", got, want)
	}
	kept := s.bounds.Load()
	if again := s.boundsAt(day); again != got || s.bounds.Load() != kept {
		t.Errorf("at the day's start: got %s, want %s from memory", again, got)
	}
	if next := s.boundsAt(day + 86400e6); next == got {
		t.Errorf("on the next day: got the bounds of the day before")
	}
	if allocs := testing.AllocsPerRun(100, func() { s.boundsAt(day + 86400e6) }); allocs != 0 {
		t.Errorf("bounds from memory: got %v allocations", allocs)
	}
}

// TestBatchAllocatesNothing once its slices have grown.
func TestBatchAllocatesNothing(t *testing.T) {
	scope := scopeOf("10/s", "5/d fixed-window calendar UTC")
	plain := scopeOf("10/s")
	reply := &Reply{Ints: make([]int64, 20*6+20*3)}
	var b Batch
	allocs := testing.AllocsPerRun(100, func() {
		b.Begin("", 1_700_000_000_000_000)
		for range 20 {
			b.Add(Take, scope, 1, "key", Problem{})
		}
		for range 20 {
			b.Add(Take, plain, 1, "key", Problem{})
		}
		b.Args()
		if err := b.Check(reply); err != nil {
			t.Fatal(err)
		}
		b.Row(reply, 7)
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want none", allocs)
	}
}
