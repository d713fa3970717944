package proxy

import (
	"log/slog"
	"strings"
	"sync"
	"time"
)

// complaints logs errors, at most one a second: an upstream that is down must not fill the disk too. It is an
// [io.Writer] for what net/http has to say.
type complaints struct {
	logger *slog.Logger
	mu     sync.Mutex
	last   time.Time // guarded by mu
	held   int       // not logged since last; guarded by mu
}

const complainEvery = time.Second

func (c *complaints) complain(message string, err error) {
	c.mu.Lock()
	now := time.Now()
	if !c.last.IsZero() && now.Sub(c.last) < complainEvery {
		c.held++
		c.mu.Unlock()
		return
	}
	held := c.held
	c.last, c.held = now, 0
	c.mu.Unlock()
	args := make([]any, 0, 4)
	if err != nil {
		args = append(args, "error", err)
	}
	if held > 0 {
		args = append(args, "more_since_last", held)
	}
	c.logger.Error(message, args...)
}

// Write takes a message of package log.
func (c *complaints) Write(p []byte) (int, error) {
	c.complain(strings.TrimSpace(string(p)), nil)
	return len(p), nil
}
