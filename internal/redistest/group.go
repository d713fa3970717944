package redistest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// endWith kills the servers when the test ends, and shows what they said if it has failed.
func endWith(tb testing.TB, servers ...*Server) {
	tb.Cleanup(func() {
		killAll(servers)
		if tb.Failed() {
			for _, s := range servers {
				tb.Logf("the log of %s ends:\n%s", s.Addr, s.logTail())
			}
		}
	})
}

func killAll(servers []*Server) {
	for _, s := range servers {
		if s != nil {
			s.Kill()
		}
	}
}

// launchIn launches a server in a new directory of dir.
func launchIn(dir, name string, opts Options) (*Server, error) {
	dir = filepath.Join(dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	return Launch(dir, opts)
}

func addrs(servers []*Server) []string {
	all := make([]string, len(servers))
	for i, s := range servers {
		all[i] = s.Addr
	}
	return all
}

// together calls do with 0 to n-1 at the same time and joins the errors.
func together(n int, do func(i int) error) error {
	errs := make([]error, n)
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { errs[i] = do(i) })
	}
	calls.Wait()
	return errors.Join(errs...)
}
