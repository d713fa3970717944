package redistest

import (
	"regexp"
	"testing"

	"github.com/redis/rueidis"

	"github.com/weirhq/weir/internal/redistest/internal/poll"
)

func TestSentinel(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t)
	if want := regexp.MustCompile(`^redis-sentinel://127\.0\.0\.1:\d+,127\.0\.0\.1:\d+,127\.0\.0\.1:\d+/mymaster/0$`); !want.MatchString(s.URL()) {
		t.Errorf("URL is %q", s.URL())
	}
	client := clientOf(t, rueidis.ClientOption{InitAddress: s.SentinelAddrs(), Sentinel: rueidis.SentinelOption{MasterSet: MasterName}})
	works := func() {
		t.Helper()
		must(t, poll.Until("SET", func() error { return command(t, client, "SET", "key", "1").Error() }))
	}
	works()
	first, err := s.Master()
	must(t, err)
	if first != s.Servers[0] {
		t.Errorf("the master is %s, want %s", first.Addr, s.Servers[0].Addr)
	}

	must(t, s.Handover())
	works()
	second, err := s.Master()
	must(t, err)
	if second == first || !first.responsive() {
		t.Errorf("after a handover the master is %s, and %s runs: %v", second.Addr, first.Addr, first.responsive())
	}

	killed, err := s.Failover()
	must(t, err)
	if killed != second || killed.responsive() {
		t.Errorf("a failover killed %s, want %s", killed.Addr, second.Addr)
	}
	works()
	must(t, killed.Restart())
	must(t, s.WaitReady())

	third, err := s.Master()
	must(t, err)
	must(t, third.Pause())
	fourth, err := s.AwaitMaster(third)
	must(t, err)
	if fourth == third {
		t.Errorf("the master is still %s, which is paused", third.Addr)
	}
	must(t, third.Resume())
	must(t, s.WaitReady())
	works()
}
