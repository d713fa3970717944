package redistest

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/redistest/internal/poll"
	"github.com/weirhq/weir/internal/redistest/internal/ports"
)

// MasterName is what the sentinels call the master.
const MasterName = "mymaster"

const (
	sentinelReplicas = 2
	sentinelCount    = 3
	sentinelQuorum   = 2
)

// Sentinel is a master with two replicas, watched by three sentinels.
type Sentinel struct {
	// Servers are the master and its replicas; the first is the master at the start.
	Servers []*Server
	// Sentinels are the servers that watch them.
	Sentinels []*Server
}

// StartSentinel runs a master, two replicas and three sentinels until the test ends. See [Start].
func StartSentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	Require(tb)
	s, err := LaunchSentinel(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	endWith(tb, s.all()...)
	return s
}

// LaunchSentinel is [StartSentinel] without a test. Its files are in dir, an empty directory.
func LaunchSentinel(dir string) (*Sentinel, error) {
	s := &Sentinel{Servers: make([]*Server, 1+sentinelReplicas), Sentinels: make([]*Server, sentinelCount)}
	if err := s.launch(dir); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

func (s *Sentinel) launch(dir string) error {
	var err error
	if s.Servers[0], err = launchIn(dir, "server0", Options{}); err != nil {
		return err
	}
	err = together(sentinelReplicas, func(i int) (err error) {
		s.Servers[1+i], err = launchIn(dir, fmt.Sprint("server", 1+i), Options{ReplicaOf: s.Servers[0]})
		return err
	})
	if err != nil {
		return err
	}
	// Sentinels ask the master for its replicas when they start and not again for long: all of them must be there.
	if err := poll.Until("replicas", func() error { return s.replicasFollow(s.Servers[0]) }); err != nil {
		return err
	}
	err = together(sentinelCount, func(i int) (err error) {
		s.Sentinels[i], err = launchWatcher(filepath.Join(dir, fmt.Sprint("sentinel", i)), s.Servers[0])
		return err
	})
	if err != nil {
		return err
	}
	return s.WaitReady()
}

// launchWatcher starts a sentinel that watches master.
func launchWatcher(dir string, master *Server) (*Server, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Server{dir: dir, args: []string{"--sentinel"}}
	err := s.launch(ports.Draw, func(port int) []string {
		return []string{
			"port " + strconv.Itoa(port),
			fmt.Sprintf("sentinel monitor %s %s %d %d", MasterName, ports.Loopback, master.port, sentinelQuorum),
			"sentinel down-after-milliseconds " + MasterName + " 400",
			"sentinel failover-timeout " + MasterName + " 2000",
			"sentinel parallel-syncs " + MasterName + " " + strconv.Itoa(sentinelReplicas),
		}
	})
	if err != nil {
		return nil, err
	}
	// Redis 7 and Valkey can talk more often, and need not fall silent for 30 s after the machine was busy for 2 s.
	// Redis 6.2 refuses and is slower.
	_, err = s.Do("SENTINEL", "DEBUG", "info-period", 200, "publish-period", 200, "ask-period", 100,
		"tilt-trigger", 10000, "tilt-period", 1000)
	if _, refused := errors.AsType[Error](err); err != nil && !refused {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// Kill ends all servers and sentinels at once.
func (s *Sentinel) Kill() { killAll(s.all()) }

func (s *Sentinel) all() []*Server { return slices.Concat(s.Sentinels, s.Servers) }

// SentinelAddrs are the addresses of the sentinels.
func (s *Sentinel) SentinelAddrs() []string { return addrs(s.Sentinels) }

// URL is redis-sentinel://host:port,host:port,host:port/mymaster/0 with the sentinels' addresses.
func (s *Sentinel) URL() string {
	return "redis-sentinel://" + strings.Join(s.SentinelAddrs(), ",") + "/" + MasterName + "/0"
}

// Master asks the sentinels that run which server is the master. They must agree.
func (s *Sentinel) Master() (*Server, error) {
	var master string
	for _, watcher := range s.Sentinels {
		if !watcher.responsive() {
			continue
		}
		reply, err := watcher.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MasterName)
		if err != nil {
			return nil, err
		}
		pair, ok := reply.([]any)
		if !ok || len(pair) != 2 {
			return nil, fmt.Errorf("redistest: sentinel %s names %v as master", watcher.Addr, reply)
		}
		named := net.JoinHostPort(fmt.Sprint(pair[0]), fmt.Sprint(pair[1]))
		if master != "" && named != master {
			return nil, fmt.Errorf("redistest: sentinels name %s and %s as master", master, named)
		}
		master = named
	}
	for _, server := range s.Servers {
		if server.Addr == master {
			return server, nil
		}
	}
	return nil, fmt.Errorf("redistest: sentinels name %q as master", master)
}

// WaitReady returns when the sentinels agree on a master that runs, know each other and its replicas, and the replicas
// that run follow it.
func (s *Sentinel) WaitReady() error { return poll.Until("sentinels", s.settled) }

// AwaitMaster returns the master once that is another than old and [Sentinel.WaitReady] is content.
func (s *Sentinel) AwaitMaster(old *Server) (*Server, error) {
	var master *Server
	err := poll.Until("another master than "+old.Addr, func() (err error) {
		if master, err = s.Master(); err != nil {
			return err
		}
		if master == old {
			return errors.New("the sentinels still name it")
		}
		return s.settled()
	})
	return master, err
}

// Failover kills the master, returns it, and returns when another server has taken over.
func (s *Sentinel) Failover() (*Server, error) {
	old, err := s.Master()
	if err != nil {
		return nil, err
	}
	if err := old.Kill(); err != nil {
		return nil, err
	}
	_, err = s.AwaitMaster(old)
	return old, err
}

// Handover makes a sentinel replace a master that is well, and returns when another server has taken over. The old
// master lives on as a replica.
func (s *Sentinel) Handover() error {
	old, err := s.Master()
	if err != nil {
		return err
	}
	// A sentinel refuses while it has another failover in hand, or has not yet seen that a replica is good.
	err = poll.Until("SENTINEL FAILOVER", func() error {
		_, err := s.Sentinels[0].Do("SENTINEL", "FAILOVER", MasterName)
		return err
	})
	if err != nil {
		return err
	}
	_, err = s.AwaitMaster(old)
	return err
}

// settled tells what is missing until [Sentinel.WaitReady] is content.
func (s *Sentinel) settled() error {
	master, err := s.Master()
	if err != nil {
		return err
	}
	if !master.responsive() {
		return fmt.Errorf("the sentinels name %s as master, which does not run", master.Addr)
	}
	if role, err := master.field("role", "INFO", "replication"); err != nil || role != "master" {
		return cmp.Or(err, fmt.Errorf("%s is %q, not the master", master.Addr, role))
	}
	for _, watcher := range s.Sentinels {
		if !watcher.responsive() {
			continue
		}
		reply, err := watcher.Do("SENTINEL", "MASTER", MasterName)
		if err != nil {
			return err
		}
		sees := pairs(reply)
		for field, want := range map[string]string{
			"flags":               "master",
			"num-other-sentinels": strconv.Itoa(len(s.Sentinels) - 1),
			"num-slaves":          strconv.Itoa(len(s.Servers) - 1),
		} {
			if sees[field] != want {
				return fmt.Errorf("sentinel %s has %s %q, not %q", watcher.Addr, field, sees[field], want)
			}
		}
	}
	return s.replicasFollow(master)
}

// pairs makes a map of an array of names and values.
func pairs(reply any) map[string]string {
	fields := make(map[string]string)
	array, _ := reply.([]any)
	for i := 0; i+1 < len(array); i += 2 {
		fields[fmt.Sprint(array[i])] = fmt.Sprint(array[i+1])
	}
	return fields
}

// replicasFollow tells which server that runs does not copy master.
func (s *Sentinel) replicasFollow(master *Server) error {
	for _, server := range s.Servers {
		if server != master && server.responsive() {
			if err := server.follows(master); err != nil {
				return err
			}
		}
	}
	return nil
}
