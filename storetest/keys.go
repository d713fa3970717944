package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir"
)

// keyCases: every key, whatever bytes it holds, in every namespace is a subject of its own, and the same one for all
// limiters of its namespace.
func keyCases() []testCase {
	names := []string{"", "a", "ab", "abc", "a:", "a:b", "a\x00", "\x00", "{a}", "a}{", "{", "\xff", strings.Repeat("n", 256)}
	keys := []string{
		"a", "b", "bc", "c", "abc", "b:c", ":b", ":", "b:", "\x00", "\x00b", "b\x00", "b\x00c", "\x00\x00", "{b}", "{b}c", "{c}b", "}b{",
		"{}", "\xff", "\xff\xfe", "\xc3\xa9", "e\xcc\x81", " ", "b ", "\n", "*", "%", "0", "1", "00", "user:1", "user:10", "User:1",
		strings.Repeat("k", 255), strings.Repeat("k", 256), strings.Repeat("k", 257),
	}
	const megabyte = 1 << 20
	long := strings.Repeat("k", megabyte)
	longs := []string{long, long + "k", long[1:], long[1:] + "x", "x" + long[1:], long[:megabyte/2] + "x" + long[megabyte/2+1:]}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("user:%d", i))
	}
	return []testCase{
		{"own", func(t *testing.T, rig Rig) { testOwn(t, rig, names, keys) }},
		{"long", func(t *testing.T, rig Rig) { testOwn(t, rig, names[:2], longs) }},
		{"many", func(t *testing.T, rig Rig) { testOwn(t, rig, names[2:3], many) }},
		{"shared", testShared},
	}
}

// testOwn takes from every key in every namespace the only unit it has: each must have it, and not twice.
func testOwn(t *testing.T, rig Rig, names, keys []string) {
	for _, want := range []bool{true, false} {
		for _, name := range names {
			l := weir.MustNew(rig.Store, weir.Options{Name: name, Limits: weir.MustParseLimits("1/h")})
			for _, key := range keys {
				d, err := l.Allow(t.Context(), key)
				if err != nil {
					t.Fatalf("name %.20q, key %.20q of %d bytes: error %v", name, key, len(key), err)
				}
				if d.Allowed != want {
					t.Fatalf("name %.20q, key %.20q of %d bytes: got allowed = %v, want %v", name, key, len(key), d.Allowed, want)
				}
			}
		}
	}
}

// testShared: limiters with one Name share their keys, however they were made; others do not.
func testShared(t *testing.T, rig Rig) {
	limits := weir.MustParseLimits("10/m fixed-window")
	a := weir.MustNew(rig.Store, weir.Options{Name: "shared", Limits: limits})
	b := weir.MustNew(rig.Store, weir.Options{Name: "shared", Limits: weir.MustParseLimits("10/60s fixed-window")})
	c := weir.MustNew(rig.Store, weir.Options{Name: "other", Limits: limits})
	d, err := a.With(limits...)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		limiter *weir.Limiter
		cost    int64
		want    int64
	}{{a, 3, 7}, {b, 2, 5}, {c, 1, 9}, {d, 4, 1}, {a, 1, 0}, {c, 1, 8}} {
		got, err := step.limiter.AllowN(t.Context(), "key", step.cost)
		if err != nil || !got.Allowed || got.Remaining != step.want {
			t.Fatalf("step %d: take %d: got %+v, %v, want %d remaining", i, step.cost, got, err, step.want)
		}
	}
}
