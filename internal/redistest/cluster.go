package redistest

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/redistest/internal/poll"
	"github.com/weirhq/weir/internal/redistest/internal/ports"
	"github.com/weirhq/weir/internal/redistest/internal/topology"
)

const (
	clusterMasters = 3
	// clusterTimeout is how long a node may be silent before it counts as down. Less would make a busy machine fail over
	// by itself.
	clusterTimeout = "1000"
)

// Slots is the number of slots of a cluster.
const Slots = topology.Slots

// KeySlot is the slot of a key.
func KeySlot(key string) int { return topology.KeySlot(key) }

// Cluster is three masters that share the slots, and a replica of each.
type Cluster struct {
	// Nodes are the masters of the start, in the order of their slots, and then their replicas in the same order.
	Nodes []*Server
}

// StartCluster runs a cluster until the test ends. See [Start].
func StartCluster(tb testing.TB) *Cluster {
	tb.Helper()
	Require(tb)
	c, err := LaunchCluster(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	endWith(tb, c.Nodes...)
	return c
}

// LaunchCluster is [StartCluster] without a test. Its files are in dir, an empty directory.
func LaunchCluster(dir string) (*Cluster, error) {
	c := &Cluster{Nodes: make([]*Server, 2*clusterMasters)}
	err := together(len(c.Nodes), func(i int) (err error) {
		c.Nodes[i], err = launchIn(dir, fmt.Sprint("node", i), Options{Config: []string{
			"cluster-enabled yes",
			"cluster-node-timeout " + clusterTimeout,
			"cluster-replica-validity-factor 0", // a replica takes over however old its data is
		}})
		return err
	})
	if err == nil {
		err = c.join()
	}
	if err != nil {
		c.Kill()
		return nil, err
	}
	return c, nil
}

// join makes one cluster of nodes that are each one of their own.
func (c *Cluster) join() error {
	err := together(len(c.Nodes), func(i int) error {
		// Nodes of the same epoch would have to quarrel about it first. It can be set only while a node knows no other.
		_, err := c.Nodes[i].Do("CLUSTER", "SET-CONFIG-EPOCH", i+1)
		if err == nil && i < clusterMasters {
			_, err = c.Nodes[i].Do(append([]any{"CLUSTER", "ADDSLOTS"}, share(i)...)...)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = together(len(c.Nodes), func(i int) error {
		// Gossip would make all known to each other too, but later.
		for _, other := range c.Nodes[:i] {
			if _, err := c.Nodes[i].Do("CLUSTER", "MEET", ports.Loopback, other.port); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := poll.Until("nodes meet", c.met); err != nil {
		return err
	}
	err = together(clusterMasters, func(i int) error {
		id, err := c.Nodes[i].Do("CLUSTER", "MYID")
		if err != nil {
			return err
		}
		_, err = c.Nodes[clusterMasters+i].Do("CLUSTER", "REPLICATE", id)
		return err
	})
	if err != nil {
		return err
	}
	return c.WaitReady()
}

// share is the slots of a master.
func share(i int) []any {
	var slots []any
	for slot := i * Slots / clusterMasters; slot < (i+1)*Slots/clusterMasters; slot++ {
		slots = append(slots, slot)
	}
	return slots
}

// Kill ends all nodes at once.
func (c *Cluster) Kill() { killAll(c.Nodes) }

// Addrs are the addresses of all nodes.
func (c *Cluster) Addrs() []string { return addrs(c.Nodes) }

// URL is redis-cluster://host:port,host:port,... with the addresses of all nodes.
func (c *Cluster) URL() string { return "redis-cluster://" + strings.Join(c.Addrs(), ",") }

// responsive are the nodes that run and are not paused.
func (c *Cluster) responsive() []*Server {
	var nodes []*Server
	for _, node := range c.Nodes {
		if node.responsive() {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// node is the node with an address, or nil.
func (c *Cluster) node(addr string) *Server {
	for _, node := range c.Nodes {
		if node.Addr == addr {
			return node
		}
	}
	return nil
}

// MasterOf asks the nodes that run which of them has the slot.
func (c *Cluster) MasterOf(slot int) (*Server, error) {
	var master *Server
	epoch := int64(-1)
	for _, node := range c.responsive() {
		view, err := node.view()
		if err != nil {
			return nil, err
		}
		// A master that was away may believe for a moment that it still has the slot. The later epoch is right.
		if me := view.Myself(); me.Is("master") && me.Has(slot) && me.Epoch > epoch {
			master, epoch = node, me.Epoch
		}
	}
	if master == nil {
		return nil, fmt.Errorf("redistest: slot %d has no master that runs", slot)
	}
	return master, nil
}

// WaitReady returns when the nodes that run serve all slots, agree on who has which, and the replicas among them follow
// their masters.
func (c *Cluster) WaitReady() error { return poll.Until("cluster", c.settled) }

// settled tells what is missing until [Cluster.WaitReady] is content.
func (c *Cluster) settled() error {
	var agreed string
	for _, node := range c.responsive() {
		if state, err := node.field("cluster_state", "CLUSTER", "INFO"); err != nil || state != "ok" {
			return cmp.Or(err, fmt.Errorf("%s: cluster_state:%s", node.Addr, state))
		}
		view, err := node.view()
		if err != nil {
			return err
		}
		text, err := c.describe(view)
		if err != nil {
			return fmt.Errorf("%s: %w", node.Addr, err)
		}
		if agreed != "" && text != agreed {
			return fmt.Errorf("%s sees the cluster as\n%sand another node as\n%s", node.Addr, text, agreed)
		}
		agreed = text
		if me := view.Myself(); !me.Is("master") {
			if err := node.follows(c.node(view.Named(me.Master).Addr)); err != nil {
				return err
			}
		}
	}
	return nil
}

// met tells which node that runs does not know all others.
func (c *Cluster) met() error {
	for _, node := range c.responsive() {
		view, err := node.view()
		if err != nil {
			return err
		}
		if _, err := c.describe(view); err != nil {
			return fmt.Errorf("%s: %w", node.Addr, err)
		}
	}
	return nil
}

// describe says what a view knows about the nodes that run, in a text that is the same for nodes that agree. It fails
// if the view lacks a node or takes one that runs for down.
func (c *Cluster) describe(view topology.View) (string, error) {
	var text strings.Builder
	for _, node := range c.Nodes {
		n := view.At(node.Addr)
		switch {
		case n.ID == "" || n.Is("handshake"):
			return "", fmt.Errorf("does not know %s", node.Addr)
		case !node.responsive():
			continue
		case n.Is("fail") || n.Is("fail?"):
			return "", fmt.Errorf("takes %s for down", node.Addr)
		}
		fmt.Fprintln(&text, n.ID, n.Addr, n.Is("master"), n.Master, n.Slots)
	}
	return text.String(), nil
}

// view asks a node what it knows about the cluster.
func (s *Server) view() (topology.View, error) {
	reply, err := s.Do("CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	return topology.Parse(fmt.Sprint(reply))
}
