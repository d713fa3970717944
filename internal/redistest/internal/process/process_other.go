//go:build !linux

package process

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// endWithUs is empty: only Linux can tie a program to this process.
func endWithUs() *syscall.SysProcAttr { return nil }

// Pause stops the program where it stands.
func (p *Process) Pause() error { return p.signal("-STOP") }

// Resume lets a paused program go on.
func (p *Process) Resume() error { return p.signal("-CONT") }

// signal asks the program kill, since not every system that Go knows has these signals.
func (p *Process) signal(name string) error {
	out, err := exec.Command("kill", name, strconv.Itoa(p.Pid())).CombinedOutput()
	if err != nil {
		return fmt.Errorf("process: kill %s: %w: %s", name, err, out)
	}
	return nil
}

// CPUTime is only known on Linux.
func (p *Process) CPUTime() (time.Duration, error) {
	return 0, fmt.Errorf("process: CPU time: %w", errors.ErrUnsupported)
}
