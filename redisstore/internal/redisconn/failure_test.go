package redisconn

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redistest"
)

// TestRestart: no call is lost because the server has closed connections that were idle, however many.
func TestRestart(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	c := open(t, server.URL(), Settings{})
	for round := range 3 {
		crowd(t, c, 100, redistest.Patience, func(err error) error { return err }) // all connections are in use, then idle
		must(t, server.Restart())
		for range 20 {
			if _, err := within(redistest.Patience, c, count, "k"); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
	must(t, server.Stop())
	if _, err := within(redistest.Patience, c, count, "k"); wantUnsent(err) != nil {
		t.Errorf("a server that is gone: %v", err)
	}
}

// TestNothingTwice: a call that is no error was executed once; one whose reply was lost, once or not at all.
func TestNothingTwice(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	link := redistest.Proxy(t, server.Addr)
	standalone := open(t, "redis://"+link.Addr, Settings{})
	t.Run("standalone", func(t *testing.T) {
		checkNothingTwice(t, standalone, "twice", func() {
			link.Latency(50 * time.Millisecond)
			time.Sleep(20 * time.Millisecond)
			link.Cut()
		}, link.Heal)
	})
	cluster := startCluster(t)
	tag := freshTag()
	node, err := cluster.MasterOf(redistest.KeySlot(tag))
	must(t, err)
	clustered := open(t, cluster.URL(), Settings{})
	t.Run("cluster", func(t *testing.T) {
		checkNothingTwice(t, clustered, tag, func() {
			if _, err := node.Do("CLIENT", "KILL", "TYPE", "normal"); err != nil {
				t.Error(err)
			}
		}, func() {})
	})
}

func checkNothingTwice(t *testing.T, r runner, key string, trouble, heal func()) {
	const callers = 50
	if _, err := within(redistest.Patience, r, count, key); err != nil {
		t.Fatal(err)
	}
	sent, good := int64(1), int64(1)
	for range 5 {
		var under sync.WaitGroup
		var fine atomic.Int64
		stop := make(chan struct{})
		for range callers {
			under.Go(func() {
				for {
					_, err := within(redistest.Patience, r, count, key)
					atomic.AddInt64(&sent, 1)
					if err != nil {
						return
					}
					fine.Add(1)
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		trouble()
		close(stop)
		under.Wait()
		heal()
		good += fine.Load()
	}
	var executed int64
	eventually(t, redistest.Patience, func() (err error) {
		executed, err = within(redistest.Patience, r, "return {tonumber(redis.call('GET', KEYS[1]))}", key)
		return err
	})
	t.Logf("executed %d times, after %d calls of which %d succeeded", executed, sent, good)
	if executed < good || executed > sent {
		t.Errorf("executed %d times, after %d calls of which %d succeeded", executed, sent, good)
	}
	if good == sent {
		t.Error("there was no trouble")
	}
}

// TestReplica: a replica is noticed, connections are made anew, not too often, and calls under way are not disturbed.
func TestReplica(t *testing.T) {
	master := redistest.Start(t, redistest.Options{})
	replica := redistest.Start(t, redistest.Options{ReplicaOf: master})
	c := open(t, replica.URL(), Settings{})
	begun, calls := time.Now(), 0
	for time.Since(begun) < 300*time.Millisecond {
		calls++
		_, err := within(redistest.Patience, c, count, "k")
		if server, ok := errors.AsType[*ServerError](err); !ok || !strings.HasPrefix(server.Text, "READONLY ") {
			t.Fatalf("got %v, want READONLY", err)
		}
	}
	// Two connections each time: rueidis has one for itself.
	if n := accepted(t, replica); calls < 10 || n > 10 {
		t.Errorf("%d connections for %d calls", n, calls)
	}
	if _, err := replica.Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Second, func() error { _, err := within(redistest.Patience, c, count, "k"); return err })

	time.Sleep(rediscoverEvery)
	before := accepted(t, replica)
	long := make(chan error, 1)
	go func() {
		_, err := within(redistest.Patience, c, "local i = 0 while i < 2e7 do i = i + 1 end return {1}", "k")
		long <- err
	}()
	time.Sleep(20 * time.Millisecond)
	for range 1000 {
		c.Rediscover()
	}
	crowd(t, c, 20, redistest.Patience, func(err error) error { return err })
	if err := <-long; err != nil {
		t.Errorf("a call that was under way: %v", err)
	}
	if n := accepted(t, replica) - before; n < 2 || n > 2+DefaultConnections+1 {
		t.Errorf("%d new connections", n)
	}
}

// accepted is the number of connections that the server has ever accepted, without those of the rig.
func accepted(t *testing.T, s *redistest.Server) int {
	t.Helper()
	info, err := s.Do("INFO", "stats")
	must(t, err)
	var n int
	for line := range strings.Lines(info.(string)) {
		fmt.Sscanf(line, "total_connections_received:%d", &n)
	}
	return n
}

// TestMasterDown: a replica that has lost its master refuses, and calls recover when it has it back.
func TestMasterDown(t *testing.T) {
	master := redistest.Start(t, redistest.Options{})
	replica := redistest.Start(t, redistest.Options{ReplicaOf: master, Config: []string{"replica-serve-stale-data no"}})
	must(t, master.Kill())
	c := open(t, replica.URL(), Settings{})
	eventually(t, redistest.Patience, func() error {
		_, err := within(redistest.Patience, c, count, "k")
		if err == nil || !strings.HasPrefix(err.Error(), "MASTERDOWN ") {
			return fmt.Errorf("got %v, want MASTERDOWN", err)
		}
		return nil
	})
}

// TestForgotten: when something on the way has forgotten all connections without a word, one call is lost.
func TestForgotten(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	way := startWay(t, server.Addr)
	c := open(t, "redis://"+way.addr, Settings{})
	crowd(t, c, 100, redistest.Patience, func(err error) error { return err })
	way.forget()
	if _, err := within(50*time.Millisecond, c, count, "k"); wantOverdue(err) != nil {
		t.Errorf("the first call: %v", err)
	}
	for range 20 {
		if _, err := within(redistest.Patience, c, count, "k"); err != nil {
			t.Errorf("a later call: %v", err)
		}
	}
}

// way is a line to a server that can forget the connections it has.
type way struct {
	addr string
	era  atomic.Int64
}

func (w *way) forget() { w.era.Add(1) }

func startWay(t *testing.T, to string) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &way{addr: l.Addr().String()}
	var copies sync.WaitGroup
	carry := func(to, from net.Conn) {
		defer to.Close()
		era, b := w.era.Load(), make([]byte, 1<<16)
		for {
			n, err := from.Read(b)
			if err != nil {
				return
			}
			if era == w.era.Load() {
				to.Write(b[:n])
			}
		}
	}
	copies.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			copies.Go(func() { carry(server, client) })
			copies.Go(func() { carry(client, server) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		copies.Wait()
	})
	return w
}
