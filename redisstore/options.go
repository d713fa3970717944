package redisstore

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/weirhq/weir/redisstore/internal/script"
)

// The values of options that are left at zero.
const (
	DefaultPrefix     = "weir:"
	DefaultTimeout    = 50 * time.Millisecond
	DefaultMaxWaiting = 1 << 14
)

// The bounds of [Options].
const (
	MinTimeout   = time.Millisecond
	MaxTimeout   = time.Minute
	MaxPrefix    = 128
	MaxProcesses = 1 << 20
)

// Outage is what takes and looks answer while Redis cannot. Such decisions have [weir.Decision.Outage] set and are
// counted in [Stats].
type Outage uint8

const (
	// OutageLocal lets each process limit by itself, in memory, with 1/[Options.Processes] of every limit, at least
	// one unit. All together then admit about the limit, on top of what was admitted before the outage.
	OutageLocal Outage = iota
	// OutageAllow admits every cost that the limit can ever admit.
	OutageAllow
	// OutageDeny refuses every cost but 0, to be asked again after a second.
	OutageDeny
	// OutageError leaves it to the caller: an error that wraps [ErrOutage].
	OutageError
)

// String returns "local", "allow", "deny" or "error".
func (o Outage) String() string {
	switch o {
	case OutageLocal:
		return "local"
	case OutageAllow:
		return "allow"
	case OutageDeny:
		return "deny"
	case OutageError:
		return "error"
	}
	return fmt.Sprintf("Outage(%d)", uint8(o))
}

// ParseOutage reads what String writes.
func ParseOutage(s string) (Outage, error) {
	for o := range OutageError + 1 {
		if o.String() == s {
			return o, nil
		}
	}
	return 0, fmt.Errorf("%w: outage is %q; use local, allow, deny or error", ErrInvalidOptions, s)
}

// Options configure a [Store]. The zero value works.
type Options struct {
	// Prefix begins the names of all keys; empty means [DefaultPrefix]. At most [MaxPrefix] bytes, without braces,
	// which would choose the slot of a cluster. All processes that share limits have the same.
	Prefix string
	// HashKeys keeps names and keys out of Redis, which then sees 256 bits of SHA-256 in their place. Without it only
	// those that together are longer than 256 bytes are hashed.
	HashKeys bool
	// HashSecret makes the hash an HMAC, so that nobody can find a key by trying, as is easy for addresses. All
	// processes have the same; another secret forgets all state.
	HashSecret []byte

	// Timeout is how long an operation may take, with connecting, waiting for others and the reply; then the outage
	// policy decides. 0 means [DefaultTimeout]; [MinTimeout] to [MaxTimeout].
	Timeout time.Duration
	// MaxWaiting bounds the operations that wait to be sent; more are an outage at once. On a cluster it counts for
	// each hash tag. 0 means [DefaultMaxWaiting].
	MaxWaiting int
	// Outage is the outage policy.
	Outage Outage
	// Processes is by how many processes the limits are shared, for [OutageLocal]. 0 means 1, which protects most
	// from lost traffic and least from too much: n processes then admit up to n times the limits. At most [MaxProcesses].
	Processes int

	// PerSlot keeps keys of different hash tags out of one script call, as on a cluster. For proxies that look like a
	// single server and have a cluster behind them; clusters themselves are known.
	PerSlot bool
	// Log hears when Redis is given up, when it is back, and what is misconfigured, each change once. Nil is
	// slog.Default().
	Log *slog.Logger
}

func (o *Options) setDefaults() {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = DefaultMaxWaiting
	}
	if o.Processes == 0 {
		o.Processes = 1
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
}

// validate wants the defaults set.
func (o *Options) validate() error {
	var problem string
	switch {
	case strings.ContainsAny(o.Prefix, "{}"):
		problem = fmt.Sprintf("Prefix is %q; leave the braces out, they choose the slot of a cluster", o.Prefix)
	case len(o.Prefix) > MaxPrefix:
		problem = fmt.Sprintf("Prefix has %d bytes; use at most %d", len(o.Prefix), MaxPrefix)
	case len(o.HashSecret) > 0 && !o.HashKeys:
		problem = "HashSecret is set but HashKeys is not; set both or neither"
	case o.Timeout < MinTimeout || o.Timeout > MaxTimeout:
		problem = fmt.Sprintf("Timeout is %v; use %v to %v, or 0 for %v", o.Timeout, MinTimeout, MaxTimeout, DefaultTimeout)
	case o.MaxWaiting < 0:
		problem = fmt.Sprintf("MaxWaiting is %d; use 1 or more, or 0 for %d", o.MaxWaiting, DefaultMaxWaiting)
	case o.Outage > OutageError:
		problem = fmt.Sprintf("Outage is %v; use OutageLocal, OutageAllow, OutageDeny or OutageError", o.Outage)
	case o.Processes < 0 || o.Processes > MaxProcesses:
		problem = fmt.Sprintf("Processes is %d; use 1 to %d, or 0 for 1", o.Processes, MaxProcesses)
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrInvalidOptions, problem)
}

// Reply is what a script returned: an array of integers, then texts. A runner clears the one it is given, by its method
// Clear, and appends to its fields
//
//	Ints  []int64  // the integers in their order
//	Texts []string // the strings and errors among the elements, in their order
type Reply = script.Reply

// Runner runs scripts on a Redis client. [Open] and [Rueidis] make one; package goredis has one for go-redis. It must
// be safe for concurrent use and must not repeat a call whose reply was lost: it may have been charged.
//
// A runner may also have these methods: Clustered() bool, which says that the keys of one call must share a slot;
// Rediscover(), which makes calls from then on look for the master anew; Prompt() bool, which says that a call ends at the
// deadline of its context on all accounts, even if Done is not closed then; and Close() error, which [Store.Close] calls, and which ends calls under way.
type Runner interface {
	// EvalSHA runs the script with the SHA-1 sum sha. It clears into and fills it. The text of an error that Redis
	// sent begins with its code, such as NOSCRIPT. The call ends when ctx does, or soon after.
	EvalSHA(ctx context.Context, sha string, keys, args []string, into *Reply) error
	// Eval runs the script with this text, likewise.
	Eval(ctx context.Context, source string, keys, args []string, into *Reply) error
}
