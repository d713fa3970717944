package redistest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

const (
	programVariable = "WEIR_REDIS_SERVER"
	defaultProgram  = "redis-server"
)

// program is the path of the server program.
func program() (string, error) {
	path, err := exec.LookPath(cmp.Or(os.Getenv(programVariable), defaultProgram))
	if err != nil {
		return "", fmt.Errorf("%w: %w; install %s or name another in %s", ErrMissing, err, defaultProgram, programVariable)
	}
	return path, nil
}

// Require skips the test if the server program is not on this machine. Where the environment variable CI is set, nothing
// is skipped and the test fails instead.
func Require(tb testing.TB) {
	tb.Helper()
	switch _, err := program(); {
	case err == nil:
	case os.Getenv("CI") != "":
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
}
