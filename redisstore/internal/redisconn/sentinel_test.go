package redisconn

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redistest"
)

// TestSentinelFailover: calls go on soon after the master has handed over, and soon after it has died and the sentinels
// have noticed.
func TestSentinelFailover(t *testing.T) {
	s := startSentinel(t)
	c := open(t, s.URL(), Settings{})
	eventually(t, redistest.Patience, func() error { _, err := within(time.Second, c, count, "k"); return err })
	for name, change := range map[string]func() error{
		"handover": s.Handover,
		"death":    func() error { _, err := s.Failover(); return err },
	} {
		t.Run(name, func(t *testing.T) {
			old, err := s.Master()
			must(t, err)
			watch := watchCalls(t, c, "k")
			must(t, change())
			took := eventually(t, time.Second, func() error { _, err := within(50*time.Millisecond, c, count, "k"); return err })
			t.Logf("it works %v after the change; %s", took, watch())
			must(t, old.Restart())
			must(t, s.WaitReady())
		})
	}
}

// TestSentinelStops: a sentinel that has answered and then hangs is not waited for.
func TestSentinelStops(t *testing.T) {
	s := startSentinel(t)
	must(t, s.Sentinels[0].Pause())
	c := open(t, s.URL(), Settings{})
	took := eventually(t, redistest.Patience, func() error { _, err := within(50*time.Millisecond, c, count, "k"); return err })
	t.Logf("with one sentinel stopped, it works after %v", took)
	for _, sentinel := range s.Sentinels[1:] {
		must(t, sentinel.Pause())
	}
	begun := time.Now()
	for time.Since(begun) < 3*time.Second {
		if _, err := within(time.Second, c, count, "k"); err != nil {
			t.Fatalf("with all sentinels stopped: %v", err)
		}
	}
	for _, sentinel := range s.Sentinels {
		must(t, sentinel.Resume())
	}
	must(t, s.WaitReady())
	if _, err := within(time.Second, c, count, "k"); err != nil {
		t.Error(err)
	}
}

// TestMachineStops: the master hangs, and so does the sentinel that the runner listens to, as when they share a machine.
// The sentinels need some 1.5 s to replace the master.
func TestMachineStops(t *testing.T) {
	s := startSentinel(t)
	c := open(t, s.URL(), Settings{})
	eventually(t, redistest.Patience, func() error { _, err := within(time.Second, c, count, "k"); return err })
	master, err := s.Master()
	must(t, err)
	watch := watchCalls(t, c, "k")
	must(t, s.Sentinels[0].Pause())
	must(t, master.Pause())
	took := eventually(t, 4*time.Second, func() error { _, err := within(50*time.Millisecond, c, count, "k"); return err })
	t.Logf("it works %v after the machine stopped; %s", took, watch())
	must(t, s.Sentinels[0].Resume())
	must(t, master.Resume())
	_, err = s.AwaitMaster(master)
	must(t, err)
}
