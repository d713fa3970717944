package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/redistest/internal/poll"
)

// endWithUs lets the system kill a program when this process is gone.
func endWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// Pause stops the program where it stands. It returns when it has, which is a little after the signal was sent.
func (p *Process) Pause() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("process: pause: %w", err)
	}
	return poll.Until("pause", func() error {
		fields, err := p.stat()
		if err == nil && fields[0] != "T" {
			err = fmt.Errorf("process: state %s", fields[0])
		}
		return err
	})
}

// Resume lets a paused program go on.
func (p *Process) Resume() error {
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("process: resume: %w", err)
	}
	return nil
}

// jiffy is the unit of times in /proc: USER_HZ is 100 on every architecture that Go runs on.
const jiffy = 10 * time.Millisecond

// CPUTime is the time that all threads of the program have spent, in user mode and in the system, in steps of 10 ms.
func (p *Process) CPUTime() (time.Duration, error) {
	fields, err := p.stat()
	if err != nil {
		return 0, err
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * jiffy, errors.Join(err, err2)
}

// stat returns the fields of /proc/PID/stat from the third on, the state: the second, the name, may hold anything.
func (p *Process) stat() ([]string, error) {
	if !p.Running() {
		return nil, poll.Final(fmt.Errorf("process: %w", os.ErrProcessDone))
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return nil, fmt.Errorf("process: /proc/PID/stat is %q", text)
	}
	return fields, nil
}
