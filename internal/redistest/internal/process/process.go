package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a program that was started.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once the program has ended and err is set
	err   error
}

// Start starts a program. Its output should go to files: what copies it from elsewhere is waited for by Kill and Stop.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = endWithUs()
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux ends the program when the thread ends that started it, not the process: so that thread stays with it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.ended)
		}
	}()
	return p, <-started
}

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Running tells whether the program has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Err says how the program ended, such as "exit status 1". It must have.
func (p *Process) Err() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// Kill ends the program at once, and returns when it has.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("process: kill: %w", err)
	}
	<-p.ended
	return nil
}

// Stop asks the program to end and returns when it has; it fails if that was not with status 0. A program that does not
// end in time is killed.
func (p *Process) Stop(patience time.Duration) error {
	if !p.Running() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("process: stop: %w", err)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		return errors.Join(fmt.Errorf("process: stop: not within %v", patience), p.Kill())
	}
	if p.err != nil {
		return fmt.Errorf("process: stop: %w", p.err)
	}
	return nil
}
