package specs

import (
	"testing"

	"github.com/weirhq/weir"
)

func spec(quota int64) *weir.Spec {
	return &weir.Spec{Algorithm: weir.AlignedWindow, Quota: quota, Period: 1000}
}

func TestIntern(t *testing.T) {
	var table Table
	a, b := table.Intern(spec(1)), table.Intern(spec(2))
	if a == b {
		t.Fatalf("Intern gives two specs the number %d", a)
	}
	if got := table.Intern(spec(1)); got != a {
		t.Errorf("Intern of an equal spec at another place = %d, want %d", got, a)
	}
	if got := table.Slot(b).Spec; got != *spec(2) {
		t.Errorf("Slot(%d).Spec = %+v, want %+v", b, got, *spec(2))
	}
	if !table.Slot(a).Is(spec(1)) || table.Slot(a).Is(spec(2)) {
		t.Errorf("Slot(%d) does not tell its own spec from another", a)
	}
}

// TestTrim: specs that entries use stay under their numbers, others leave once there are many, and their numbers are
// given again.
func TestTrim(t *testing.T) {
	var table Table
	held := table.Intern(spec(1))
	table.Hold(held)
	for quota := int64(2); quota <= 10*MaxIdle; quota++ {
		id := table.Intern(spec(quota))
		table.Hold(id)
		table.Release(id)
		table.Trim()
		if table.Used() > MaxIdle+2 {
			t.Fatalf("after %d specs that nobody uses the table holds %d", quota-1, table.Used())
		}
		if !table.Slot(held).Is(spec(1)) {
			t.Fatalf("after %d specs the one in use is gone", quota-1)
		}
	}
	if got := len(table.slots); got > MaxIdle+2 {
		t.Errorf("%d slots for %d specs: numbers are not given again", got, table.Used())
	}
	if got := table.Intern(spec(1)); got != held {
		t.Errorf("Intern of the spec in use = %d, want %d", got, held)
	}
}
