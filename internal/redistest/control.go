package redistest

import (
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/redistest/internal/poll"
)

// Patience is how long this package waits for what must happen.
const Patience = poll.Patience

// Pid is the process of the latest start.
func (s *Server) Pid() int { return s.process.Load().Pid() }

// CPUTime is what the process has used since its start, in user mode and in the system, in steps of 10 ms. Only on Linux.
func (s *Server) CPUTime() (time.Duration, error) { return s.process.Load().CPUTime() }

// responsive tells whether the server runs and is not paused.
func (s *Server) responsive() bool { return s.process.Load().Running() && !s.paused.Load() }

// Pause stops the process where it stands: connections stay open, new ones are taken by the system, nothing answers.
func (s *Server) Pause() error {
	s.paused.Store(true) // before it is, so that nobody waits for its answer
	err := s.process.Load().Pause()
	s.paused.Store(err == nil)
	return err
}

// Resume lets a paused process go on.
func (s *Server) Resume() error {
	err := s.process.Load().Resume()
	s.paused.Store(false)
	return err
}

// Kill ends the process at once, as a crash does, and returns when it is gone.
func (s *Server) Kill() error { return s.process.Load().Kill() }

// Stop asks the process to end, which lets it save, and returns when it has.
func (s *Server) Stop() error {
	if s.paused.Load() && s.process.Load().Running() {
		if err := s.Resume(); err != nil {
			return err
		}
	}
	if err := s.process.Load().Stop(Patience); err != nil {
		return fmt.Errorf("%w\nits log ends:\n%s", err, s.logTail())
	}
	return nil
}

// Restart stops the process if it runs, starts it on the same port with the same files, and returns when it answers.
func (s *Server) Restart() error {
	if err := s.Stop(); err != nil {
		return err
	}
	return s.run()
}
