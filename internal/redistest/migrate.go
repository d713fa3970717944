package redistest

import (
	"fmt"

	"github.com/weirhq/weir/internal/redistest/internal/ports"
)

const (
	// migrateBatch is how many keys move at once.
	migrateBatch = 10
	// migrateMillis is how long a batch may take.
	migrateMillis = 5000
)

// MigrateSlot moves a slot with its keys to another master, in the steps that the documentation of CLUSTER SETSLOT gives.
// While it goes on, the old master answers ASK for keys that it no longer has. between is called, if it is not nil,
// when the slot is open and no key has moved, and again after every batch of keys, with the number of keys that have.
func (c *Cluster) MigrateSlot(slot int, to *Server, between func(moved int)) error {
	from, err := c.MasterOf(slot)
	if err != nil || from == to {
		return err
	}
	fromID, err := from.Do("CLUSTER", "MYID")
	if err != nil {
		return err
	}
	toID, err := to.Do("CLUSTER", "MYID")
	if err != nil {
		return err
	}
	if _, err := to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", fromID); err != nil {
		return err
	}
	if _, err := from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", toID); err != nil {
		return err
	}
	if between == nil {
		between = func(int) {}
	}
	if err := moveKeys(slot, from, to, between); err != nil {
		return err
	}
	if err := c.announce(slot, toID, to, from); err != nil {
		return err
	}
	return c.WaitReady()
}

// moveKeys moves the keys of an open slot.
func moveKeys(slot int, from, to *Server, between func(moved int)) error {
	for moved := 0; ; {
		between(moved)
		reply, err := from.Do("CLUSTER", "GETKEYSINSLOT", slot, migrateBatch)
		if err != nil {
			return err
		}
		keys, ok := reply.([]any)
		if !ok {
			return fmt.Errorf("redistest: CLUSTER GETKEYSINSLOT %d: %v", slot, reply)
		}
		if len(keys) == 0 {
			return nil
		}
		if _, err := from.Do(append([]any{"MIGRATE", ports.Loopback, to.port, "", 0, migrateMillis, "KEYS"}, keys...)...); err != nil {
			return err
		}
		moved += len(keys)
	}
}

// announce tells the masters who has the slot now: the new master first, because the old one would send clients there,
// and the others last, who would hear it by gossip too, but later.
func (c *Cluster) announce(slot int, owner any, to, from *Server) error {
	order := []*Server{to, from}
	for _, node := range c.responsive() {
		if node != to && node != from {
			order = append(order, node)
		}
	}
	for _, node := range order {
		role, err := node.field("role", "INFO", "replication")
		if err != nil {
			return err
		}
		if role != "master" {
			continue
		}
		if _, err := node.Do("CLUSTER", "SETSLOT", slot, "NODE", owner); err != nil {
			return err
		}
	}
	return nil
}
