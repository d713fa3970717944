package redisconn

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redistest"
)

// freshTag returns a hash tag that no test has used: the cluster serves several.
func freshTag() string { return fmt.Sprintf("{%d}", time.Now().UnixNano()) }

// otherMaster returns a master other than not, and a key that it has.
func otherMaster(t *testing.T, cluster *redistest.Cluster, not *redistest.Server) (master *redistest.Server, key string) {
	t.Helper()
	for {
		key := freshTag()
		master, err := cluster.MasterOf(redistest.KeySlot(key))
		must(t, err)
		if master != not {
			return master, key
		}
	}
}

// TestSlotMoves: a call finds its key while the slot is on its way to a node that has never seen the script.
func TestSlotMoves(t *testing.T) {
	cluster := startCluster(t)
	c := open(t, cluster.URL(), Settings{})
	tag := freshTag()
	slot := redistest.KeySlot(tag)
	from, err := cluster.MasterOf(slot)
	must(t, err)
	to, _ := otherMaster(t, cluster, from)
	for i := range 20 {
		if _, err := within(time.Second, c, count, fmt.Sprint(tag, i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := to.Do("SCRIPT", "FLUSH"); err != nil {
		t.Fatal(err)
	}
	calls := int64(1)
	err = cluster.MigrateSlot(slot, to, func(moved int) {
		calls++
		for i := range 20 {
			if n, err := within(time.Second, c, count, fmt.Sprint(tag, i)); err != nil || n != calls {
				t.Errorf("with %d keys moved, key %d: got %d, %v, want %d", moved, i, n, err, calls)
			}
		}
		key := fmt.Sprint(tag, "new", moved)
		if n, err := within(time.Second, c, count, key); err != nil || n != 1 {
			t.Errorf("with %d keys moved, a new key: got %d, %v", moved, n, err)
		}
	})
	must(t, err)
	for i := range 20 {
		if n, err := within(time.Second, c, count, fmt.Sprint(tag, i)); err != nil || n != calls+1 {
			t.Errorf("after the move, key %d: got %d, %v, want %d", i, n, err, calls+1)
		}
	}
	must(t, cluster.MigrateSlot(slot, from, nil))
}

// TestNodeStops: a node that is stopped keeps its own calls to their deadlines, and others from nothing.
func TestNodeStops(t *testing.T) {
	cluster := startCluster(t)
	c := open(t, cluster.URL(), Settings{Timeout: redistest.Patience})
	const slow = "{slow}"
	node, err := cluster.MasterOf(redistest.KeySlot(slow))
	must(t, err)
	_, fast := otherMaster(t, cluster, node)
	for _, key := range []string{slow, fast} {
		eventually(t, time.Second, func() error { _, err := within(time.Second, c, count, key); return err })
	}
	must(t, node.Pause())
	long := patient(c, slow)
	for range 3 {
		var callers sync.WaitGroup
		for i := range 100 {
			callers.Go(func() {
				key, d := fast, time.Second
				if i%2 == 0 {
					key, d = slow, 50*time.Millisecond
				}
				begun := time.Now()
				_, err := within(d, c, count, key)
				if took := time.Since(begun); took > d+slack || (err != nil) != (key == slow) || err != nil && wantOverdue(err) != nil {
					t.Errorf("%s: %v after %v", key, err, took)
				}
			})
		}
		callers.Wait()
	}
	must(t, node.Resume())
	took := eventually(t, time.Second, func() error { _, err := within(50*time.Millisecond, c, count, slow); return err })
	t.Logf("it works %v after the return", took)
	if err := <-long; err != nil {
		t.Errorf("the call that waited longer: %v", err)
	}
	must(t, cluster.WaitReady())
}

// TestFirstCallEnds: the end of a call that has a shared connection to itself does not take it from those who come.
func TestFirstCallEnds(t *testing.T) {
	cluster := startCluster(t)
	c := open(t, cluster.URL(), Settings{Timeout: redistest.Patience})
	const key = "{first}"
	node, err := cluster.MasterOf(redistest.KeySlot(key))
	must(t, err)
	if _, err := within(time.Second, c, count, key); err != nil {
		t.Fatal(err)
	}
	must(t, node.Pause())
	first := make(chan error, 1)
	go func() {
		_, err := within(100*time.Millisecond, c, count, key)
		first <- err
	}()
	time.Sleep(20 * time.Millisecond)
	long := patient(c, key)
	if err := <-first; wantOverdue(err) != nil {
		t.Error(err)
	}
	must(t, node.Resume())
	if err := <-long; err != nil {
		t.Errorf("the call that waited longer: %v", err)
	}
	must(t, cluster.WaitReady())
}

// TestClusterFailover: calls go on soon after a master has handed over or has died and the cluster has noticed.
func TestClusterFailover(t *testing.T) {
	cluster := startCluster(t)
	c := open(t, cluster.URL(), Settings{})
	const key = "{failover}"
	slot := redistest.KeySlot(key)
	eventually(t, redistest.Patience, func() error { _, err := within(time.Second, c, count, key); return err })
	for name, change := range map[string]func() error{
		"handover": func() error { return cluster.Handover(slot) },
		"death":    func() error { _, err := cluster.Failover(slot); return err },
	} {
		t.Run(name, func(t *testing.T) {
			old, err := cluster.MasterOf(slot)
			must(t, err)
			watch := watchCalls(t, c, key)
			must(t, change())
			took := eventually(t, 3*time.Second, func() error { _, err := within(50*time.Millisecond, c, count, key); return err })
			t.Logf("it works %v after the change; %s", took, watch())
			must(t, old.Restart())
			must(t, cluster.WaitReady())
		})
	}
}

// TestWholeClusterStops and comes back.
func TestWholeClusterStops(t *testing.T) {
	cluster := startCluster(t)
	c := open(t, cluster.URL(), Settings{})
	crowd(t, c, 100, redistest.Patience, func(err error) error { return err })
	for _, n := range cluster.Nodes {
		must(t, n.Pause())
	}
	for range 10 {
		crowd(t, c, 100, 100*time.Millisecond, func(err error) error {
			if err == nil {
				return errors.New("a call succeeded")
			}
			return nil
		})
	}
	for _, n := range cluster.Nodes {
		must(t, n.Resume())
	}
	must(t, cluster.WaitReady())
	took := eventually(t, time.Second, func() error { _, err := within(50*time.Millisecond, c, count, "{1}"); return err })
	t.Logf("it works %v after the return", took)
}

// watchCalls makes calls all the time until the function is called that it returns, which tells how they went.
func watchCalls(t *testing.T, r runner, key string) func() string {
	t.Helper()
	stop := make(chan struct{})
	outcomes := make(map[string]int)
	var first, last time.Duration
	var caller sync.WaitGroup
	begun := time.Now()
	caller.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			sent := time.Now()
			_, err := within(50*time.Millisecond, r, count, key)
			if took := time.Since(sent); took > 50*time.Millisecond+slack {
				t.Errorf("a call took %v", took)
			}
			outcome := "fine"
			if err != nil {
				outcome, _, _ = strings.Cut(err.Error(), ": read tcp")
				if first == 0 {
					first = sent.Sub(begun)
				}
				last = time.Since(begun)
			}
			outcomes[outcome]++
		}
	})
	return func() string {
		close(stop)
		caller.Wait()
		return fmt.Sprintf("calls failed from %v to %v of %v: %v", first, last, time.Since(begun), outcomes)
	}
}
