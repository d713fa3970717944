package redistest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/internal/redistest/internal/poll"
)

func TestKeySlot(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{Config: []string{"cluster-enabled yes"}})
	for _, key := range []string{"", "foo", "{user}1", "a{user}b{c}", "{}a", "a{}{b}", "{{a}}", "{a", "}a{", "\xff\x00{é}", strings.Repeat("x", 99)} {
		expect(t, s, int64(KeySlot(key)), "CLUSTER", "KEYSLOT", key)
	}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c := StartCluster(t)
	if want := regexp.MustCompile(`^redis-cluster://127\.0\.0\.1:\d+(,127\.0\.0\.1:\d+){5}$`); !want.MatchString(c.URL()) {
		t.Errorf("URL is %q", c.URL())
	}
	for slot, want := range map[int]*Server{0: c.Nodes[0], Slots / 2: c.Nodes[1], Slots - 1: c.Nodes[2]} {
		if master, err := c.MasterOf(slot); err != nil || master != want {
			t.Errorf("the master of %d is %v, %v, want %s", slot, master, err, want.Addr)
		}
	}
	client := clientOf(t, rueidis.ClientOption{InitAddress: c.Addrs()})
	t.Run("migrate", func(t *testing.T) { testMigrate(t, c, client) })

	const key = "key"
	slot := KeySlot(key)
	works := func() {
		t.Helper()
		must(t, poll.Until("SET", func() error { return command(t, client, "SET", key, "1").Error() }))
	}
	works()
	first, err := c.MasterOf(slot)
	must(t, err)

	must(t, c.Handover(slot))
	works()
	second, err := c.MasterOf(slot)
	must(t, err)
	if second == first || !first.responsive() {
		t.Errorf("after a handover the master is %s, and %s runs: %v", second.Addr, first.Addr, first.responsive())
	}

	killed, err := c.Failover(slot)
	must(t, err)
	if killed != second || killed.responsive() {
		t.Errorf("a failover killed %s, want %s", killed.Addr, second.Addr)
	}
	works()
	must(t, killed.Restart())
	must(t, c.WaitReady())
	must(t, killed.follows(first))

	must(t, first.Pause())
	if third, err := c.AwaitMaster(slot, first); err != nil || third != killed {
		t.Errorf("while the master is paused it is %v, %v, want %s", third, err, killed.Addr)
	}
	must(t, first.Resume())
	must(t, c.WaitReady())
	works()
}

// testMigrate moves a slot forth and back while a client uses it.
func testMigrate(t *testing.T, c *Cluster, client rueidis.Client) {
	const keys = 2*migrateBatch + 1
	key := func(i int) string { return fmt.Sprintf("{moving}%d", i) }
	for i := range keys {
		must(t, command(t, client, "SET", key(i), strconv.Itoa(i)).Error())
	}
	slot := KeySlot(key(0))
	from, err := c.MasterOf(slot)
	must(t, err)
	to := c.Nodes[(slices.Index(c.Nodes, from)+1)%clusterMasters]

	var asked atomic.Int64
	look := func(moved int) {
		for i := range keys {
			got, err := command(t, client, "INCR", key(i)).AsInt64()
			if want := int64(i) + asked.Load() + 1; err != nil || got != want {
				t.Errorf("%d keys moved: %s is %d, %v, want %d", moved, key(i), got, err, want)
			}
		}
		asked.Add(1)
		left, err := from.Do("CLUSTER", "COUNTKEYSINSLOT", slot)
		if err != nil || left != int64(keys-moved) {
			t.Errorf("%d keys moved: the old master has %v, %v", moved, left, err)
		}
	}
	must(t, c.MigrateSlot(slot, to, look))
	if master, err := c.MasterOf(slot); err != nil || master != to {
		t.Errorf("the slot moved to %v, %v, want %s", master, err, to.Addr)
	}
	if asked.Load() != 4 {
		t.Errorf("%d looks, want 4: before and after 10, 20 and 21 keys", asked.Load())
	}
	for _, back := range []*Server{from, from} { // the second time there is nothing to do
		must(t, c.MigrateSlot(slot, back, nil))
		expect(t, from, int64(keys), "CLUSTER", "COUNTKEYSINSLOT", slot)
	}
}
