package rivals

import (
	"slices"
	"testing"
)

func contestants() []Rival { return slices.Concat(All, []Rival{WeirThree}) }

// TestRivalsLimit: every rival tells the keys apart and refuses what is above its limit.
func TestRivalsLimit(t *testing.T) {
	keys := Keys()
	for _, r := range contestants() {
		if err := r.Check(keys); err != nil {
			t.Error(err)
		}
	}
}

type everything bool

func (l everything) Allow(string) bool { return bool(l) }
func (everything) Close()              {}

// TestCheckFindsWhatDoesNotLimit: the check is one that can fail.
func TestCheckFindsWhatDoesNotLimit(t *testing.T) {
	for _, r := range []Rival{
		{Name: "admits all", New: func(int) Limiter { return everything(true) }},
		{Name: "refuses all", New: func(int) Limiter { return everything(false) }},
		{Name: "sees one key", Keyed: true, New: newRate},
	} {
		if r.Check(Keys()) == nil {
			t.Errorf("Check of a limiter that %s = nil, want an error", r.Name)
		}
	}
}

// TestWorkloads: all rivals decide all workloads alike.
func TestWorkloads(t *testing.T) {
	for _, w := range Workloads(Keys()) {
		for _, r := range contestants() {
			if !r.Keyed && !w.Hot {
				continue
			}
			l := r.New(PerHour)
			w.Fill(l)
			if err := w.CheckAdmitted(w.Run(l, TableKeys), TableKeys); err != nil {
				t.Errorf("%s: %v", r.Name, err)
			}
			l.Close()
		}
	}
}
