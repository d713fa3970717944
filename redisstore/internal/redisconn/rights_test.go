package redisconn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redistest"
)

// The least that a user needs, besides the commands of the script, here INCR.
const (
	leastRules         = "~weir:* +eval +evalsha +ping +incr"
	leastMasterRules   = leastRules + " +role"
	leastSentinelRules = "&* +ping +subscribe +unsubscribe +sentinel|sentinels +sentinel|get-master-addr-by-name"
	leastClusterRules  = leastRules + " +cluster|slots +cluster|shards +asking"
)

// TestRights: the least that a user needs on a server on its own, and what happens with less.
func TestRights(t *testing.T) {
	for _, test := range []struct {
		name, rules, database string
		want                  string
	}{
		{name: "least", rules: leastRules},
		{name: "without PING", rules: "~weir:* +eval +evalsha +incr"}, // it works, but is in the log
		{name: "database", rules: leastRules + " +select", database: "1"},
		{name: "database without SELECT", rules: leastRules, database: "1", want: "NOPERM "},
		{name: "without EVAL", rules: "~weir:* +ping +incr", want: "NOPERM "},
		{name: "other keys", rules: "~other:* +eval +evalsha +ping +incr", want: "NOPERM "},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := redistest.Start(t, redistest.Options{User: redistest.User{Name: "weir", Password: "hunter2", Rules: test.rules}})
			c := open(t, strings.TrimSuffix(s.URL(), "0")+test.database, Settings{})
			_, err := within(redistest.Patience, c, count, "weir:{1}")
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if test.name == "least" {
				checkNoComplaints(t, s)
			}
		})
	}
}

// checkNoComplaints looks for what users have tried in vain.
func checkNoComplaints(t *testing.T, s *redistest.Server) {
	t.Helper()
	if log, err := s.Do("ACL", "LOG"); err != nil || len(log.([]any)) != 0 {
		t.Errorf("the server has something to complain of: %v, %v", log, err)
	}
}

// addUser makes a user on all servers, and starts their logs afresh.
func addUser(t *testing.T, servers []*redistest.Server, rules string) {
	t.Helper()
	for _, s := range servers {
		args := []any{"ACL", "SETUSER", "weir", "reset", "on", ">hunter2"}
		for rule := range strings.FieldsSeq(rules) {
			args = append(args, rule)
		}
		_, err := s.Do(args...)
		_, reset := s.Do("ACL", "LOG", "RESET")
		must(t, errors.Join(err, reset))
		t.Cleanup(func() { s.Do("ACL", "DELUSER", "weir") })
	}
}

func TestRightsWithSentinels(t *testing.T) {
	s := startSentinel(t)
	addUser(t, s.Servers, leastMasterRules)
	addUser(t, s.Sentinels, leastSentinelRules)
	url := fmt.Sprintf("redis-sentinel://weir:hunter2@%s/%s?sentinel_user=weir&sentinel_password=hunter2", strings.Join(s.SentinelAddrs(), ","), redistest.MasterName)
	c := open(t, url, Settings{})
	if _, err := within(redistest.Patience, c, count, "weir:{1}"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond) // until the next PING
	for _, server := range slices.Concat(s.Servers, s.Sentinels) {
		checkNoComplaints(t, server)
	}
	wrong := open(t, strings.Replace(url, "sentinel_password=hunter2", "sentinel_password=hunter3", 1), Settings{})
	if _, err := within(redistest.Patience, wrong, count, "weir:{1}"); err == nil || !strings.HasPrefix(err.Error(), "WRONGPASS ") {
		t.Errorf("with a wrong password for the sentinels: %v", err)
	}
}

func TestRightsOnCluster(t *testing.T) {
	cluster := startCluster(t)
	addUser(t, cluster.Nodes, leastClusterRules)
	c := open(t, strings.Replace(cluster.URL(), "://", "://weir:hunter2@", 1), Settings{})
	from, err := cluster.MasterOf(redistest.KeySlot("weir:{rights}"))
	must(t, err)
	to, _ := otherMaster(t, cluster, from)
	check := func(int) {
		for i := range 3 {
			if _, err := within(redistest.Patience, c, count, fmt.Sprintf("weir:{rights}%d", i)); err != nil {
				t.Error(err)
			}
		}
	}
	check(0)
	must(t, cluster.MigrateSlot(redistest.KeySlot("{rights}"), to, check))
	check(0)
	must(t, cluster.MigrateSlot(redistest.KeySlot("{rights}"), from, nil))
	time.Sleep(1500 * time.Millisecond)
	for _, node := range cluster.Nodes {
		checkNoComplaints(t, node)
	}
	addUser(t, cluster.Nodes, leastRules)
	less := open(t, strings.Replace(cluster.URL(), "://", "://weir:hunter2@", 1), Settings{})
	if _, err := within(redistest.Patience, less, count, "weir:{1}"); err == nil || !strings.HasPrefix(err.Error(), "NOPERM ") {
		t.Errorf("without CLUSTER: %v", err)
	}
}
