package race

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// sample is a report with fixed numbers.
func sample() *Report {
	r := &Report{Store: "redis://localhost:6379/0", Limit: 50, Workers: 64, Requests: 5000, Ways: []Result{
		{Way: wayUnsafe, Title: "GET, then INCR", Admitted: 113, Refused: 4887, OverLimit: 63, LatencyP50: 1213, LatencyP99: 3424, RequestsPerSecond: 31204},
		{Way: wayWatch, Title: "WATCH, no retry", Admitted: 50, Refused: 4950, WronglyRefused: 1159, LatencyP50: 2341, LatencyP99: 12345, RequestsPerSecond: 18234},
		{Way: wayRetry, Title: "WATCH, retried", Admitted: 50, Refused: 4950, Retries: 647, LatencyP50: 2411, LatencyP99: 151234, RequestsPerSecond: 15602},
		{Way: wayScript, Title: "Lua script", Admitted: 50, Refused: 4950, LatencyP50: 998, LatencyP99: 1702, RequestsPerSecond: 39005},
	}}
	for i := range r.Ways {
		r.judge(&r.Ways[i])
	}
	return r
}

func text(t *testing.T, r *Report, s Style) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		file  string
		style Style
	}{
		{"testdata/blocks-80.txt", Style{Width: 80, Blocks: true}},
		{"testdata/plain-80.txt", Style{Width: 80}},
		{"testdata/color-100.txt", Style{Width: 100, Blocks: true, Color: true}},
	} {
		want, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, sample(), c.style); got != string(want) {
			t.Errorf("%+v: got\n%swant (%s)\n%s", c.style, got, c.file, want)
		}
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	million := sample()
	million.Limit, million.Requests = 1_000_000, MaxRequests
	million.Ways[0].Admitted, million.Ways[0].OverLimit = 1_000_999, 999
	million.Ways[1].WronglyRefused = MaxRequests
	narrow := sample()
	narrow.Limit = 1
	for i := range narrow.Ways {
		narrow.Ways[i].Admitted = 1 + narrow.Ways[i].OverLimit
	}
	few := sample()
	few.Requests = 10
	for i := range few.Ways {
		few.Ways[i].Admitted, few.Ways[i].OverLimit, few.Ways[i].WronglyRefused = 10, 0, 0
	}
	for name, r := range map[string]*Report{"sample": sample(), "a million": million, "a limit of 1": narrow, "few requests": few} {
		for width := 0; width <= 200; width++ {
			for _, blocks := range []bool{true, false} {
				got := text(t, r, Style{Width: width, Blocks: blocks})
				for line := range strings.Lines(got) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > min(max(width, 40), 120) {
						t.Fatalf("%s, width %d: a line of %d columns in\n%s", name, width, n, got)
					}
				}
				if !blocks && strings.ContainsFunc(got, func(r rune) bool { return r > '~' }) {
					t.Fatalf("%s, width %d: not ASCII:\n%s", name, width, got)
				}
				if strings.Contains(got, "\x1b") {
					t.Fatalf("%s, width %d: an escape without color:\n%s", name, width, got)
				}
			}
		}
	}
}

// TestTextInANarrowTerminal: there is no room for bars and table, so the numbers stand one below the other.
func TestTextInANarrowTerminal(t *testing.T) {
	got := text(t, sample(), Style{Width: 40, Blocks: true})
	const want = `
GET, then INCR
  admitted                113
  over                     63
  wrongly refused           0
  retries                   0
  errors                    0
  p50 ms                 1.21
  p99 ms                 3.42
  requests/s           31,204

WATCH, no retry
`
	if _, rest, found := strings.Cut(got, "four ways.\n"); !found || !strings.HasPrefix(rest, want) || strings.ContainsAny(got, "█│") {
		t.Errorf("in 40 columns: got\n%s\nwant in it\n%s", got, want)
	}
}

func TestBar(t *testing.T) {
	blocks, plain := Style{Blocks: true}, Style{}
	for _, c := range []struct {
		style Style
		share float64
		width int
		want  string
	}{
		{blocks, 0, 4, ""}, {blocks, 1, 4, "████"}, {blocks, 0.5, 4, "██"}, {blocks, 0.53, 4, "██▏"}, {blocks, 0.97, 1, "█"},
		{blocks, 0.0001, 4, "▏"}, {blocks, 0.875, 1, "▉"}, {blocks, 1, 0, ""},
		{plain, 0, 4, ""}, {plain, 1, 4, "####"}, {plain, 0.5, 4, "##"}, {plain, 0.0001, 4, "#"},
	} {
		if got := c.style.bar(c.share, c.width); got != c.want {
			t.Errorf("bar(%v, %d) = %q, want %q", c.share, c.width, got, c.want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	opts := Report{Limit: 50, Workers: 64, Requests: 5000}
	for _, c := range []struct {
		report Report
		way    Result
		want   Verdict
		text   string
	}{
		{opts, Result{Way: wayUnsafe, Admitted: 113, OverLimit: 63}, Wrong, "113 got in where 50 may: 63 of the 64 workers had read a count below 50, and added one after others had filled it."},
		{opts, Result{Way: wayUnsafe, Admitted: 50}, Lucky, "Exactly 50 got in, by chance: near the limit no worker wrote between the read and the write of another. Run it again, or with more --workers."},
		{Report{Limit: 50, Workers: 1, Requests: 99}, Result{Way: wayUnsafe, Admitted: 50}, Lucky, "Exactly 50 got in, since one worker has nobody to race with; use more --workers."},
		{Report{Limit: 50, Workers: 8, Requests: 40}, Result{Way: wayUnsafe, Admitted: 40}, Lucky, "All 40 got in, and may; ask for more --requests than --limit."},
		{opts, Result{Way: wayWatch, Admitted: 50, WronglyRefused: 1159}, Wrong, "1,159 were refused while there was room: a race lost to another request was taken for a refusal."},
		{opts, Result{Way: wayWatch, Admitted: 41, WronglyRefused: 4959}, Wrong, "Only 41 of 50 got in, and 4,959 were refused while there was room: a race lost to another request was taken for a refusal."},
		{opts, Result{Way: wayWatch, Admitted: 50}, Lucky, "Exactly 50 got in, by chance: no worker is seen to have lost a race while there was room. Run it again, or with more --workers."},
		{Report{Limit: 1, Workers: 64, Requests: 99}, Result{Way: wayWatch, Admitted: 1}, Lucky, "Exactly 1 got in. With a limit of 1 a lost race means that the one place is taken; use a larger --limit."},
		{opts, Result{Way: wayRetry, Admitted: 50, Retries: 1647}, Right, "Exactly 50 got in, at the price of 1,647 retries: each admission makes those start over that had read the count before it."},
		{opts, Result{Way: wayWatch, Admitted: 50, WronglyRefused: 1}, Wrong, "1 was refused while there was room: a race lost to another request was taken for a refusal."},
		{opts, Result{Way: wayRetry, Admitted: 50, Retries: 1}, Right, "Exactly 50 got in, at the price of 1 retry: each admission makes those start over that had read the count before it."},
		{opts, Result{Way: wayRetry, Admitted: 50}, Right, "Exactly 50 got in. No race was lost in this run; a lost one is tried again."},
		{opts, Result{Way: wayScript, Admitted: 50}, Right, "Exactly 50 got in, with one trip for each request: Redis runs the script as a whole, so nothing comes between its read and its write."},
		{opts, Result{Way: wayScript, Admitted: 48, Errors: 1200, FirstError: "EOF"}, Right, "48 got in, with one trip for each request: Redis runs the script as a whole, so nothing comes between its read and its write. 1,200 of 5,000 requests failed, one with: EOF."},
		{opts, Result{Way: wayScript, Admitted: 51, OverLimit: 1}, Wrong, "51 got in where 50 may, and 0 were refused while there was room. This way does not do that by itself: something else may write to its key."},
	} {
		c.report.judge(&c.way)
		if c.way.Verdict != c.want || c.way.Explanation != c.text {
			t.Errorf("%+v:\ngot  %s: %s\nwant %s: %s", c.way, c.way.Verdict, c.way.Explanation, c.want, c.text)
		}
	}
}

func TestAdvice(t *testing.T) {
	r := sample()
	if got, want := r.advice(), "Use the script: it is right in every run. So is WATCH with retries, but here the script made 2.5 times as many requests per second."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Ways[3].RequestsPerSecond = 15602
	if got, want := r.advice(), "Use the script: it is right in every run, and takes one trip."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Ways[3].Verdict = Wrong
	if got, want := r.advice(), "Something other than the workers disturbed this run; use a Redis that nobody else writes to, and run it again."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestJSONFields: the fields are those that docs/race.md lists.
func TestJSONFields(t *testing.T) {
	encoded, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	var report map[string]any
	if err := json.Unmarshal(encoded, &report); err != nil {
		t.Fatal(err)
	}
	way := report["ways"].([]any)[0].(map[string]any)
	docs, err := os.ReadFile("../../docs/race.md")
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(string(docs), "## JSON")
	var documented []string
	for line := range strings.Lines(listed) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for i, name := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				documented = append(documented, name)
			}
		}
	}
	slices.Sort(documented)
	written := slices.Sorted(maps.Keys(report))
	written = append(written, slices.Sorted(maps.Keys(way))...)
	slices.Sort(written)
	if !slices.Equal(written, documented) {
		t.Errorf("the JSON has\n%q\ndocs/race.md lists\n%q", written, documented)
	}
}
