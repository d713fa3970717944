package storetest

import (
	"testing"

	"github.com/weirhq/weir"
)

// severalCases: several limits are decided all-or-nothing.
func severalCases() []testCase {
	var cases []testCase
	loose := weir.MustParseLimit("1000/h fixed-window")
	for _, limit := range kinds {
		cases = append(cases, testCase{"none/" + limit.String(), func(t *testing.T, rig Rig) {
			testNone(newPair(t, rig, limit, loose), 0)
			testNone(newPair(t, rig, loose, limit).other("tight last"), 1)
		}})
	}
	return cases
}

// testNone exhausts the limit at position tight: the other must not notice what is refused from then on.
func testNone(p *pair, tight int) {
	quota := quotaOf(p.limits[tight])
	p.allows(quota)
	for range 5 {
		f := p.do(Take, 1)
		if f[tight].RetryAfter == 0 || f[1-tight].RetryAfter != 0 {
			p.fail("take 1 after %d: got %s, want only limit %d to refuse", quota, Format(f), tight)
		}
		if want := 1000 - quota; f[1-tight].Remaining != want {
			p.fail("take 1, refused: got %s, want %d to remain of the other", Format(f), want)
		}
	}
	f := p.do(Take, quota+1)
	if f[tight].RetryAfter != weir.Never || f[1-tight].RetryAfter != 0 {
		p.fail("take %d: got %s, want never by limit %d alone", quota+1, Format(f), tight)
	}
}
