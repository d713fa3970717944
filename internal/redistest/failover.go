package redistest

import (
	"errors"
	"fmt"

	"github.com/weirhq/weir/internal/redistest/internal/poll"
)

// AwaitMaster returns the master of the slot once that is another than old and [Cluster.WaitReady] is content.
func (c *Cluster) AwaitMaster(slot int, old *Server) (*Server, error) {
	var master *Server
	err := poll.Until(fmt.Sprintf("another master of slot %d than %s", slot, old.Addr), func() (err error) {
		if master, err = c.MasterOf(slot); err != nil {
			return err
		}
		if master == old {
			return errors.New("it still is the master")
		}
		return c.settled()
	})
	return master, err
}

// Failover kills the master of the slot, returns it, and returns when its replica has taken over.
func (c *Cluster) Failover(slot int) (*Server, error) {
	old, err := c.MasterOf(slot)
	if err != nil {
		return nil, err
	}
	if err := old.Kill(); err != nil {
		return nil, err
	}
	_, err = c.AwaitMaster(slot, old)
	return old, err
}

// Handover makes the replica of the slot's master take over from a master that is well, and returns when it has. The
// old master lives on as its replica.
func (c *Cluster) Handover(slot int) error {
	old, err := c.MasterOf(slot)
	if err != nil {
		return err
	}
	replica, err := c.replicaOf(old)
	if err != nil {
		return err
	}
	if _, err := replica.Do("CLUSTER", "FAILOVER"); err != nil {
		return err
	}
	_, err = c.AwaitMaster(slot, old)
	return err
}

// replicaOf is a replica of master that runs.
func (c *Cluster) replicaOf(master *Server) (*Server, error) {
	view, err := master.view()
	if err != nil {
		return nil, err
	}
	for _, n := range view {
		if replica := c.node(n.Addr); n.Master == view.Myself().ID && replica != nil && replica.responsive() {
			return replica, nil
		}
	}
	return nil, fmt.Errorf("redistest: %s has no replica that runs", master.Addr)
}
