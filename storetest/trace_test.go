package storetest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/storetest"
)

func TestParseTraces(t *testing.T) {
	text := `
		# a comment
		trace the first   # and another
		limit 10/s burst 20
		limit 5/m fixed-window
		at 2024-01-01T00:00:00.5Z
		+1h2m take 3 -> allowed 17 reset 300ms | 2 reset 59.5s
		-1us  limits 1/s
		+0s   reset
		+0s   peek 2 -> refused 1 never

		trace the second
		limit 1/s
		at 2024-01-01T01:00:00+01:00
		+0s charge 2 -> refused 0 retry 2s reset 2s
	`
	traces, err := storetest.ParseTraces("x.trace", []byte(text))
	if err != nil || len(traces) != 2 {
		t.Fatalf("ParseTraces: got %d traces, error %v, want 2 and none", len(traces), err)
	}
	first, second := traces[0], traces[1]
	if first.Name != "x.trace: the first" || len(first.Limits) != 2 || !first.Backwards() || second.Backwards() {
		t.Errorf("first trace: got %+v", first)
	}
	if want := time.Date(2024, 1, 1, 0, 0, 0, 5e8, time.UTC); !first.Start.Equal(want) || !second.Start.Equal(want.Truncate(time.Second)) {
		t.Errorf("starts: got %v and %v, want %v and half a second less", first.Start, second.Start, want)
	}
	step := first.Steps[0]
	if step.Line != 7 || step.Advance != 62*time.Minute || step.Op != storetest.Take || step.N != 3 {
		t.Errorf("first step: got %+v", step)
	}
	want := []weir.Figures{
		{Limit: 20, Remaining: 17, ResetAfter: 300 * time.Millisecond},
		{Limit: 5, Remaining: 2, ResetAfter: 59500 * time.Millisecond},
	}
	if len(step.Want) != 2 || step.Want[0] != want[0] || step.Want[1] != want[1] {
		t.Errorf("first step: got %+v, want %+v", step.Want, want)
	}
	if f := first.Steps[3].Want; len(f) != 1 || f[0] != (weir.Figures{Limit: 1, Remaining: 1, RetryAfter: weir.Never}) {
		t.Errorf("last step: got %+v, want the figures of 1/s, refused for ever", f)
	}
}

func TestParseTracesRefuses(t *testing.T) {
	const head = "trace t\nlimit 1/s\nat 2024-01-01T00:00:00Z\n"
	for _, c := range []struct{ text, want string }{
		{"limit 1/s", `x.trace:1: "trace" and a title must come first`},
		{"trace t\nat 2024-01-01T00:00:00Z", "x.trace: x.trace: t: no limit"},
		{"trace t\nlimit 1/s", "x.trace: x.trace: t: no time to begin at"},
		{head, "x.trace: x.trace: t: no steps"},
		{head + "trace u", "x.trace:4: x.trace: t: no steps"},
		{"trace t\nlimit one", "x.trace:2: weir: limit"},
		{"trace t\nat noon", "x.trace:2: parsing time"},
		{head + "wait 1s", `x.trace:4: "wait" is not known`},
		{head + "+1 take 1 -> allowed 0", "x.trace:4: time: missing unit"},
		{head + "+0s give 1 -> allowed 0", `x.trace:4: operation "give" is not known`},
		{head + "+0s take one -> allowed 0", "x.trace:4: strconv.ParseInt"},
		{head + "+0s take 1 -> allowed 0 | 0", "x.trace:4: figures of 2 limits, want 1"},
		{head + "+0s take 1 -> refused 0", `x.trace:4: "refused" contradicts the figures`},
		{head + "+0s take 1 -> allowed 0 retry 1s", `x.trace:4: "allowed" contradicts the figures`},
		{head + "+0s take 1 -> perhaps 0", `x.trace:4: "perhaps" contradicts the figures`},
		{head + "+0s take 1 -> allowed", `x.trace:4: figures "": nothing remains`},
		{head + "+0s take 1 -> allowed many", `x.trace:4: figures "many": strconv.ParseInt`},
		{head + "+0s take 1 -> allowed 0 reset", `x.trace:4: figures "0 reset": "reset" is not`},
		{head + "+0s take 1 -> allowed 0 reset soon", `x.trace:4: figures "0 reset soon": time: invalid duration`},
		{head + "+0s take 1 -> allowed 0 and 1s", `x.trace:4: figures "0 and 1s": "and" is not`},
		{head + "+0s reset -> allowed 1", "x.trace:4: reset brings no decision"},
		{head + "+0s limits 1/z", "x.trace:4: weir: limit"},
		{head + "+0s reset\nlimit 1/s", `x.trace:5: "limit" after a step`},
	} {
		_, err := storetest.ParseTraces("x.trace", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("ParseTraces(%q): got error %v, want one that begins %q", c.text, err, c.want)
		}
	}
}

// TestPlayCompares: a step that brings something else ends a trace.
func TestPlayCompares(t *testing.T) {
	traces, err := storetest.ParseTraces("x.trace", []byte("trace t\nlimit 2/s\nat 2024-01-01T00:00:00Z\n+0s take 1 -> allowed 1 reset 500ms\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []weir.Figures{
		{},
		{Limit: 2, Remaining: 1},
		{Limit: 2, Remaining: 2, ResetAfter: 500 * time.Millisecond},
		{Limit: 2, Remaining: 1, ResetAfter: 500 * time.Millisecond, RetryAfter: 1},
		{Limit: 1, Remaining: 1, ResetAfter: 500 * time.Millisecond},
	} {
		err := traces[0].Play(func(storetest.Step) ([]weir.Figures, error) { return []weir.Figures{wrong}, nil })
		if err == nil || !strings.Contains(err.Error(), "want allowed 1 reset 500ms") {
			t.Errorf("Play of a subject that answers %+v: got error %v", wrong, err)
		}
	}
}
