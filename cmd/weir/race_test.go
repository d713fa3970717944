package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/race"
	"github.com/weirhq/weir/internal/redistest"
)

func TestRaceRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--limit", "0"}, "weir: race: --limit is 0; use 1 or more, such as 50\n"},
		{[]string{"--limit", "many"}, "--limit"},
		{[]string{"--workers", "0"}, "weir: race: --workers is 0; use 1 to 1000, such as 64\n"},
		{[]string{"--workers", "1001"}, "weir: race: --workers is 1001; use 1 to 1000, such as 64\n"},
		{[]string{"--requests=-1"}, "weir: race: --requests is -1; use 1 to 10000000, such as 5000\n"},
		{[]string{"--requests", "10000001"}, "weir: race: --requests is 10000001; use 1 to 10000000, such as 5000\n"},
		{[]string{"--store", "localhost"}, `weir: race: --store is "localhost", which does not do: `},
	} {
		got := weirDoes(append([]string{"race"}, c.args...)...)
		if got.status != 2 || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
			t.Errorf("weir race %q: %+v; want status 2 and %q", c.args, got, c.want)
		}
	}
}

func TestRaceWithoutRedis(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	got := weirDoes("race", "--store", "redis://"+addr)
	if got.status != 1 || !strings.HasPrefix(got.stderr, "weir: race: no Redis answers at redis://"+addr) || !strings.Contains(got.stderr, "redis-server --port") || strings.Count(got.stderr, "\n") != 1 || got.stdout != "" {
		t.Errorf("weir race without Redis: %+v; want status 1 and a line that says how to start one", got)
	}
}

func TestRaceInText(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	got := weirDoes("race", "--store", server.URL(), "--limit", "20", "--workers", "16", "--requests", "500")
	for _, want := range []string{
		`^20 requests may be admitted on one key of redis://`,
		`(?m)^GET, then INCR   #+\s*\|#* \d+ `,
		`(?m)^WATCH, no retry  #+\s*\|#* \d+ `,
		`(?m)^WATCH, retried   #+\| 20 +0$`,
		`(?m)^Lua script       #+\| 20 +0$`,
		`(?m)^Lua script: right\. Exactly 20 got in`,
		`\n\nUse the script: it is right in every run\b`,
	} {
		if !regexp.MustCompile(want).MatchString(got.stdout) {
			t.Errorf("weir race writes\n%swithout %s", got.stdout, want)
		}
	}
	if got.status != 0 || got.stderr != "" {
		t.Errorf("weir race: status %d, %q; want 0 and nothing", got.status, got.stderr)
	}
}

func TestRaceInJSON(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	got := weirDoes("race", "--json", "--store", server.URL(), "--requests", "500")
	decoder := json.NewDecoder(strings.NewReader(got.stdout))
	decoder.DisallowUnknownFields()
	var report race.Report
	if err := decoder.Decode(&report); err != nil || decoder.More() || got.status != 0 || got.stderr != "" {
		t.Fatalf("weir race --json: %+v: %v; want one JSON document", got, err)
	}
	if report.Limit != 50 || report.Workers != 64 || report.Requests != 500 || len(report.Ways) != 4 || report.Ways[3].Admitted != 50 {
		t.Errorf("weir race --json: %+v; want a limit of 50, 64 workers, 500 requests and four ways, of which the last admits 50", report)
	}
}

// TestRaceInterrupted starts a process, since signals are one's.
func TestRaceInterrupted(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	stdout, stderr := &lockedBuffer{}, &lockedBuffer{}
	process := exec.Command(os.Args[0], "race", "--store", server.URL(), "--requests", "10000000")
	process.Env = append(os.Environ(), asWeir+"=1")
	process.Stdout, process.Stderr = stdout, stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(patience, func() { process.Process.Kill() })
	defer killer.Stop()
	keys := func() int {
		found, err := server.Do("KEYS", "weir:race:*")
		if err != nil {
			t.Fatal(err)
		}
		return len(found.([]any))
	}
	eventually(t, "the race begins", func() bool { return keys() == 2 })
	process.Process.Signal(syscall.SIGINT)
	process.Wait()
	if got, want := stderr.String(), "weir: race: interrupted during \"GET, then INCR\"\n"; process.ProcessState.ExitCode() != 1 || got != want || stdout.String() != "" {
		t.Errorf("after SIGINT: status %d, standard error %q, standard output %q; want 1, %q and nothing", process.ProcessState.ExitCode(), got, stdout, want)
	}
	if n := keys(); n != 0 {
		t.Errorf("after SIGINT there are %d keys, want none", n)
	}
}
