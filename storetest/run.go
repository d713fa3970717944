package storetest

import (
	"errors"
	"testing"
	"time"
	_ "time/tzdata" // the days of the cases do not depend on the machine

	"github.com/weirhq/weir"
)

// Rig is a store under test with its time.
type Rig struct {
	// Store is fresh: nobody has used it. Any of its optional abilities may be missing; that is reported.
	Store weir.Store
	// Advance moves the store's time by d, which is never negative. Between calls it must stand still.
	Advance func(d time.Duration)
	// Now tells the store's time, in whole microseconds. At first it must be before 2010, for the dates of the
	// golden traces are later, and not before 1970.
	Now func() time.Time
}

// testCase is one requirement; run gets a fresh store.
type testCase struct {
	name string
	run  func(t *testing.T, rig Rig)
}

// Run tests all that a store must do. It calls env for each case, as a subtest: env opens a fresh store, calls body
// once with the t to use, and closes the store. No body calls t.Run, so that env can make a synctest bubble.
func Run(t *testing.T, env func(t *testing.T, body func(*testing.T, Rig))) {
	groups := []struct {
		name  string
		cases []testCase
	}{
		{"abilities", []testCase{{"all", testAbilities}}},
		{"golden", goldenCases(t)},
		{"costs", eachKind(testCosts)},
		{"remaining", eachKind(testRemaining)},
		{"waiting", eachKind(testWaiting)},
		{"refusals", eachKind(testRefusals)},
		{"refund", eachKind(testRefund)},
		{"charge", eachKind(testCharge)},
		{"reset", eachKind(testReset)},
		{"keys", keyCases()},
		{"several", severalCases()},
		{"concurrency", concurrencyCases()},
		{"random", randomCases(t)},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { env(t, c.run) })
			}
		})
	}
}

// kinds are limits of every kind, with quotas that the cases can exhaust.
var kinds = weir.MustParseLimits(
	"10/s burst 20",
	"3/s burst 10",
	"10/s burst 20 leaky-bucket",
	"3/s burst 10 stepwise",
	"10/m fixed-window",
	"10/m fixed-window anchored",
	"10/d fixed-window calendar Europe/Berlin",
	"10/m sliding-window",
	"10/m sliding-log",
)

// kindsStart is half a minute before midnight in Berlin, so that no case has to wait for a day to end.
var kindsStart = time.Date(2010, time.October, 30, 21, 59, 30, 0, time.UTC)

// eachKind makes a case of each kind of limit.
func eachKind(run func(*pair)) []testCase {
	var cases []testCase
	for _, limit := range kinds {
		cases = append(cases, testCase{limit.String(), func(t *testing.T, rig Rig) {
			rig.Advance(kindsStart.Sub(rig.Now()))
			run(newPair(t, rig, limit))
		}})
	}
	return cases
}

func quotaOf(limit weir.Limit) int64 {
	spec, err := weir.SpecOf(limit)
	if err != nil {
		panic(err)
	}
	return spec.Quota
}

// testAbilities reports the abilities that the store lacks, and that the limiter says so.
func testAbilities(t *testing.T, rig Rig) {
	p := newPair(t, rig, kinds[0])
	for _, op := range []Op{Take, Peek, Refund, Charge, Reset} {
		_, err := p.try(Step{Op: op, N: 1})
		switch able := p.can(op); {
		case able && err != nil:
			t.Errorf("%s: got error %v, want none", op, err)
		case !able && !errors.Is(err, weir.ErrUnsupported):
			t.Errorf("%s by a %T, which cannot: got error %v, want %v", op, rig.Store, err, weir.ErrUnsupported)
		case !able:
			t.Logf("a %T cannot %s: what needs it is not tested", rig.Store, op)
		}
	}
}

// goldenCases are the written stories.
func goldenCases(t *testing.T) []testCase {
	traces, err := Traces()
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	for _, trace := range traces {
		if !trace.Backwards() {
			cases = append(cases, testCase{trace.Name, func(t *testing.T, rig Rig) { testTrace(t, rig, &trace) }})
		}
	}
	return cases
}

func testTrace(t *testing.T, rig Rig, trace *Trace) {
	rig.Advance(trace.Start.Sub(rig.Now()))
	p := newPair(t, rig, trace.Limits...)
	for _, step := range trace.Steps {
		if !p.can(step.Op) {
			t.Logf("a %T cannot %s: not tested", rig.Store, step.Op)
			return
		}
	}
	err := trace.Play(func(step Step) ([]weir.Figures, error) {
		rig.Advance(step.Advance)
		return p.try(step)
	})
	if err != nil {
		t.Error(err)
	}
}
