package script

import (
	_ "embed"
	"strings"
)

//go:embed decide.lua
var decideSource string

// ProblemKind is why a subject was not decided.
type ProblemKind uint8

// The problems. The first two are remedied by asking again, with the problem handed to [Batch.Add]: once for lists, and
// once for each window that a decision needs, which is one but for clocks that are far off and limits that change.
const (
	None    ProblemKind = iota
	Window              // the script needs a calendar window at Time
	Lists               // the script needs the keys of lists
	Foreign             // the record is not one of ours, and was left alone
	Redis               // Redis refused a command; Text says why
)

// Problem is why a subject was not decided; nothing has been changed then. The zero Problem is none.
type Problem struct {
	Kind ProblemKind
	Time int64  // of Window
	Text string // of Redis: its own message, such as "OOM command not allowed when used memory > 'maxmemory'."

	bounds string // those that the script had
}

// redisText returns a message as Redis sends it to clients. Redis 6 puts the place in the script before it.
func redisText(message string) string {
	if rest, ok := strings.CutPrefix(message, "@user_script: "); ok {
		if _, text, ok := strings.Cut(rest, ": "); ok {
			message = text
		}
	}
	return strings.TrimSpace(strings.TrimPrefix(message, "-"))
}
