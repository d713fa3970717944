package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asWeir makes the test binary behave as weir, so that tests can start it as a process of its own.
const asWeir = "WEIR_TEST_AS_WEIR"

func TestMain(m *testing.M) {
	if os.Getenv(asWeir) != "" {
		main()
		return
	}
	// os/signal keeps a goroutine once it has been used.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("os/signal.loop"), goleak.IgnoreTopFunction("os/signal.signal_recv"))
}

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// outcome is what a command line did.
type outcome struct {
	status         int
	stdout, stderr string
}

// weirDoes runs a command line that ends by itself.
func weirDoes(args ...string) outcome {
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), args, &stdout, &stderr)
	return outcome{status, stdout.String(), stderr.String()}
}

// lockedBuffer is a buffer that one goroutine reads while others write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually polls until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestHelpGoesToStandardOutput(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"proxy", "--help"}} {
		got := weirDoes(args...)
		if got.status != 0 || !strings.HasPrefix(got.stdout, "Usage: weir") || got.stderr != "" {
			t.Errorf("weir %q: %+v", args, got)
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // a part of the message
	}{
		{nil, "weir: expected one of"},
		{[]string{"prox"}, `did you mean "proxy"?`},
		{[]string{"proxy"}, "missing flags: --to=URL"},
		{[]string{"proxy", "--to", "http://localhost:1", "--no-such"}, "unknown flag --no-such"},
		{[]string{"proxy", "--to", "http://localhost:1", "--host", "mine"}, `--host must be one of "auto","client","upstream"`},
	} {
		got := weirDoes(c.args...)
		if got.status != 2 || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
			t.Errorf("weir %q: status %d, %q; want 2 and %q", c.args, got.status, got.stderr, c.want)
		}
	}
}
