package redisstore

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/redisstore/internal/keyname"
)

// hasty makes an outage short, so that a test soon goes on.
func hasty(o *Options) { o.Timeout = 100 * time.Millisecond }

// lostUnits bounds what a failover may admit beyond the limit: replication is asynchronous, and what the old master has
// admitted last may be unknown to the new one. At worst that is all of it.
const lostUnits = quota

// expectWithin checks what a load of the quota has brought when there was a failover. A few replies are lost with the old
// master: what they admitted nobody heard of.
func (x *load) expectWithin(t *testing.T) {
	t.Helper()
	x.stop()
	t.Log(x)
	if got := x.admitted.Load(); got < quota*9/10 || got > quota+lostUnits {
		t.Errorf("got %v, want about %d admitted, and at most %d of a lost master's besides", x, quota, lostUnits)
	}
}

// TestSentinelFailover: the master is replaced, first in order and then by its death.
func TestSentinelFailover(t *testing.T) {
	sentinel := redistest.StartSentinel(t)
	store := open(t, sentinel.URL(), hasty)
	for _, how := range []struct {
		name string
		do   func() error
	}{
		{"handed over", sentinel.Handover},
		{"killed", func() error { _, err := sentinel.Failover(); return err }},
	} {
		t.Run(how.name, func(t *testing.T) {
			x := newLoad(t, limiterOf(store, "5000/1000h fixed-window"), 8, func(int) string { return how.name })
			x.awaitDecisions(500)
			if err := how.do(); err != nil {
				t.Fatal(err)
			}
			x.awaitDecisions(500)
			await(t, "the quota's end", func() bool { return x.refused.Load() > 0 })
			x.expectWithin(t)
		})
	}
}

// TestClusterFailover: the master of some of the keys is replaced; the others' keys do not notice.
func TestClusterFailover(t *testing.T) {
	cluster := redistest.StartCluster(t)
	store := open(t, cluster.URL(), hasty)
	name, _ := store.names.Name("test", "hot")
	slot := redistest.KeySlot(name)
	for _, how := range []struct {
		name string
		do   func() error
	}{
		{"handed over", func() error { return cluster.Handover(slot) }},
		{"killed", func() error { _, err := cluster.Failover(slot); return err }},
	} {
		t.Run(how.name, func(t *testing.T) {
			limiter := limiterOf(store, "5000/1000h fixed-window")
			if err := limiter.Reset(within(t, time.Minute), "hot"); err != nil {
				t.Fatal(err)
			}
			x := newLoad(t, limiter, 8, hot)
			x.awaitDecisions(500)
			if err := how.do(); err != nil {
				t.Fatal(err)
			}
			x.awaitDecisions(500)
			await(t, "the quota's end", func() bool { return x.refused.Load() > 0 })
			x.expectWithin(t)
		})
	}
}

// TestSlotMigration: a slot moves to another master and back while its keys are in use. Nothing is lost, and nothing is
// admitted twice. Subjects of one key do not notice. A log's subject has two: as long as one of them has moved, or does
// not exist yet, the cluster serves neither, which is an outage.
func TestSlotMigration(t *testing.T) {
	cluster := redistest.StartCluster(t)
	for _, c := range []struct {
		limits  []string
		outages bool
	}{
		{[]string{"100/1000h fixed-window", "1/1000h burst 200", "200/1000h sliding-window"}, false},
		{[]string{"100/1000h fixed-window", "200/1000h sliding-log"}, true},
	} {
		t.Run(fmt.Sprint(c.limits), func(t *testing.T) {
			store := open(t, cluster.URL(), nil)
			keys, slot := keysOfOneSlot(store, 60)
			x := newLoad(t, limiterOf(store, c.limits...), len(keys), func(caller int) string { return keys[caller] })
			home, err := cluster.MasterOf(slot)
			if err != nil {
				t.Fatal(err)
			}
			to := cluster.Nodes[0]
			if to == home {
				to = cluster.Nodes[1]
			}
			for _, target := range []*redistest.Server{to, home} {
				err := cluster.MigrateSlot(slot, target, func(int) {
					if !c.outages {
						x.awaitDecisions(200)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				x.awaitDecisions(200)
			}
			want := int64(100 * len(keys))
			await(t, "the quotas' end", func() bool { return x.admitted.Load() >= want })
			x.awaitDecisions(200)
			x.stop()
			t.Log(x)
			if got := x.admitted.Load(); got != want || !c.outages && x.outages.Load() > 0 {
				t.Errorf("got %v, want %d admitted, and outages %v", x, want, c.outages)
			}
		})
	}
}

// keysOfOneSlot returns n keys that share a slot, and the slot.
func keysOfOneSlot(store *Store, n int) (keys []string, slot int) {
	name, tag := store.names.Name("test", "key")
	for i := 0; len(keys) < n; i++ {
		if key := fmt.Sprint("key", i); keyname.TagOf("test", key) == tag {
			keys = append(keys, key)
		}
	}
	return keys, redistest.KeySlot(name)
}

// TestClusterAsSingle: a cluster under a redis:// URL is a mistake that is told.
func TestClusterAsSingle(t *testing.T) {
	cluster := redistest.StartCluster(t)
	limiter := limiterOf(open(t, "redis://"+cluster.Addrs()[0], nil), "5/1000h")
	var err error
	for i := 0; err == nil && i < 50; i++ {
		_, err = limiter.Allow(t.Context(), fmt.Sprint("key", i))
	}
	if !errors.Is(err, ErrMisconfigured) || !strings.Contains(err.Error(), "redis-cluster://") {
		t.Errorf("got error %v, want %v that names redis-cluster://", err, ErrMisconfigured)
	}
}

// childVariable tells a process of TestProcesses where to ask.
const childVariable = "WEIR_TEST_CHILD"

// TestProcesses: eight processes ask for one key, and are admitted as one.
func TestProcesses(t *testing.T) {
	if child := os.Getenv(childVariable); child != "" {
		ask(t, child)
		return
	}
	server := redistest.Start(t, redistest.Options{})
	const processes = 8
	var running []*exec.Cmd
	var outputs [processes]strings.Builder
	for i := range processes {
		child := exec.Command(os.Args[0], "-test.run=^TestProcesses$", "-test.count=1")
		child.Env = append(os.Environ(), childVariable+"="+server.URL())
		child.Stdout, child.Stderr = &outputs[i], &outputs[i]
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, child)
	}
	sum := 0
	for i, child := range running {
		if err := child.Wait(); err != nil {
			t.Fatalf("process %d: %v\n%s", i, err, outputs[i].String())
		}
		n := 0
		if _, rest, ok := strings.Cut(outputs[i].String(), "admitted="); ok {
			fmt.Sscan(rest, &n)
		}
		sum += n
	}
	if sum != quota {
		t.Errorf("got %d admitted by %d processes, want %d", sum, processes, quota)
	}
}

// ask is one of the processes.
func ask(t *testing.T, url string) {
	store := open(t, url, func(o *Options) { o.Prefix = "processes:" })
	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("5000/1000h sliding-log", "1/h burst 6000")})
	x := newLoad(t, limiter, 8, hot)
	await(t, "refusals", func() bool { return x.refused.Load() > 100 })
	x.stop()
	fmt.Printf("admitted=%d\n", x.admitted.Load())
}
