package script

import (
	_ "embed"
	"fmt"
	"strconv"
)

//go:embed batch.lua
var batchSource string

// Op is what a request wants done.
type Op byte

// The operations.
const (
	Take   Op = 't'
	Peek   Op = 'p'
	Refund Op = 'r'
	Charge Op = 'c'
	Reset  Op = 'x'
)

// shortTake is a take that may go the script's short ways.
const shortTake Op = 'b'

var opTexts = [...]string{Take: "t", Peek: "p", Refund: "r", Charge: "c", Reset: "x", shortTake: "b"}

// Batch is a run of the script in the making: requests become keys and arguments, and the reply their answers. It is
// reused, by one goroutine at a time.
type Batch struct {
	guess    int64
	keys     []string
	args     []string
	groups   []group
	subjects []subject
	ints     int
}

// group is a sequence of requests that differ only in their keys.
type group struct {
	op       Op
	scope    *Scope
	cost     int64
	again    bool   // the repetition of a request, which stays alone
	bounds   string // of calendar windows
	size     int
	sizeArgs int // which of the arguments is the size
}

// subject is where the answer to a request is among the integers of a reply.
type subject struct{ at, limits, group int }

// maxGroup is what a command in a script takes as arguments without getting into Lua's limits.
const maxGroup = 1000

// Begin empties the batch. nowMicros is the time of its decisions, in microseconds of the Unix epoch, or "" for Redis's
// own. guess is about the same time, for calendars: it costs a second run if it is wrong by more than a window.
func (b *Batch) Begin(nowMicros string, guess int64) {
	clear(b.keys)
	clear(b.args)
	clear(b.groups)
	b.keys, b.args = b.keys[:0], append(b.args[:0], nowMicros)
	b.groups, b.subjects, b.ints = b.groups[:0], b.subjects[:0], 0
	b.guess = guess
}

// Add adds a request and returns its number. cost is 0 to [weir.MaxQuota]; [Reset] knows none. again is the problem that
// the request had in an earlier batch, which is remedied now if it can be; zero for none.
//
// Requests that follow each other, with the same Op, Scope and cost and no problem, are one group. They should, for it is
// quicker; and in a group requests for one key must follow each other too, or they do not see each other's writes.
func (b *Batch) Add(op Op, scope *Scope, cost int64, key string, again Problem) int {
	if op == Reset {
		cost = 0
	}
	lists := scope.log || again.Kind == Lists || again.Kind == Window
	if !b.continues(op, scope, cost, again) {
		b.open(op, scope, cost, lists, again)
	}
	b.groups[len(b.groups)-1].size++
	b.keys = append(b.keys, key)
	if lists {
		for i := range scope.limits {
			b.keys = append(b.keys, listKey(key, i))
		}
	}
	b.subjects = append(b.subjects, subject{b.ints, scope.limits, len(b.groups) - 1})
	b.ints += 3 * scope.limits
	return len(b.subjects) - 1
}

// continues says whether a request belongs to the last group.
func (b *Batch) continues(op Op, scope *Scope, cost int64, again Problem) bool {
	if len(b.groups) == 0 || again != (Problem{}) {
		return false
	}
	g := &b.groups[len(b.groups)-1]
	return g.scope == scope && g.op == op && g.cost == cost && !g.again && g.size < maxGroup
}

// open begins a group.
func (b *Batch) open(op Op, scope *Scope, cost int64, lists bool, again Problem) {
	g := group{op: op, scope: scope, cost: cost, again: again != (Problem{}), bounds: again.bounds}
	sent, extra, declared := op, "", "0"
	switch {
	case op == Take && !lists && 1 <= cost && cost <= scope.short.most:
		sent, extra, declared = shortTake, scope.short.format, scope.short.limits
	case again.Kind == Window:
		g.bounds += scope.boundsAt(again.Time)
		extra = g.bounds
	case g.bounds == "":
		g.bounds = scope.boundsAt(b.guess)
		extra = g.bounds
	}
	if lists {
		declared = strconv.Itoa(scope.limits)
	}
	b.args = append(b.args, opTexts[sent], strconv.FormatInt(cost, 10), scope.head, extra, "", declared)
	g.sizeArgs = len(b.args) - 2
	b.groups = append(b.groups, g)
}

// Keys returns the keys of the run, until the next Begin.
func (b *Batch) Keys() []string { return b.keys }

// Args returns the arguments of the run, until the next Add or Begin.
func (b *Batch) Args() []string {
	for _, g := range b.groups {
		b.args[g.sizeArgs] = strconv.Itoa(g.size)
	}
	return b.args
}

// The codes of decide.lua.
const (
	codeWindow  = -1
	codeLists   = -2
	codeForeign = -3
	codeRedis   = -4
)

// Check reports whether r is a reply to this batch, which [Batch.Row] relies on.
func (b *Batch) Check(r *Reply) error {
	if len(r.Ints) != b.ints {
		return fmt.Errorf("script: got %d integers for %d requests, want %d", len(r.Ints), len(b.subjects), b.ints)
	}
	for i, s := range b.subjects {
		switch code, detail := r.Ints[s.at], r.Ints[s.at+1]; {
		case code < codeRedis:
			return fmt.Errorf("script: request %d: unknown code %d", i, code)
		case code == codeRedis && (detail < 1 || detail > int64(len(r.Texts))):
			return fmt.Errorf("script: request %d: got text %d of %d", i, detail, len(r.Texts))
		}
	}
	return nil
}

// Row returns the answer to request i: three integers for each limit of its scope, what remains, the wait in
// microseconds or -1 for never, and the microseconds until the full quota is back. [Reset] brings zeros. If the subject
// was not decided it returns the problem instead.
func (b *Batch) Row(r *Reply, i int) ([]int64, Problem) {
	s := b.subjects[i]
	row := r.Ints[s.at : s.at+3*s.limits]
	switch row[0] {
	case codeWindow:
		return nil, Problem{Kind: Window, Time: row[1], bounds: b.groups[s.group].bounds}
	case codeLists:
		return nil, Problem{Kind: Lists, bounds: b.groups[s.group].bounds}
	case codeForeign:
		return nil, Problem{Kind: Foreign}
	case codeRedis:
		return nil, Problem{Kind: Redis, Text: redisText(r.Texts[row[1]-1])}
	}
	return row, Problem{}
}
