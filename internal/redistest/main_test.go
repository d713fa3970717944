package redistest

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(orphanVariable); dir != "" {
		launchAndWait(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// must fails the test for an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expect sends a command and fails the test for another reply than want.
func expect(t *testing.T, s *Server, want any, args ...any) {
	t.Helper()
	if got, err := s.Do(args...); err != nil || got != want {
		t.Fatalf("%s: %v: got %#v, %v, want %#v", s.Addr, args, got, err, want)
	}
}
