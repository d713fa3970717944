package script

import (
	_ "embed"
	"sync/atomic"

	"github.com/weirhq/weir"
)

//go:embed scope.lua
var scopeSource string

// Scope is a list of limits as the script takes them. It does not change and is safe to share.
type Scope struct {
	head      string // with which a record begins
	limits    int
	log       bool // one of them is a log, so that lists are declared
	calendars []weir.Spec
	bounds    atomic.Pointer[bounds] // the last that were asked for
	short     short
	id        uint64
}

var lastID atomic.Uint64

// ID is a number that no other scope of the program has.
func (s *Scope) ID() uint64 { return s.id }

// NewScope returns the scope of specs, 1 to [weir.MaxLimits].
func NewScope(specs []weir.Spec) *Scope {
	s := &Scope{limits: len(specs), id: lastID.Add(1)}
	var head []byte
	for i := range specs {
		spec := &specs[i]
		if i > 0 {
			head = append(head, '|')
		}
		head = appendSpec(head, spec)
		switch spec.Algorithm {
		case weir.Log:
			s.log = true
		case weir.CalendarWindow:
			s.calendars = append(s.calendars, *spec)
		}
	}
	s.head = string(append(head, ';'))
	s.short = shortOf(specs, s.head)
	return s
}

func appendSpec(text []byte, s *weir.Spec) []byte {
	switch s.Algorithm {
	case weir.StepwiseBucket:
		return appendStepwise(text, s)
	case weir.AlignedWindow:
		return appendFixed(text, s)
	case weir.CalendarWindow:
		return appendCalendar(text, s)
	case weir.AnchoredWindow:
		return appendAnchored(text, s)
	case weir.TwoWindows:
		return appendSliding(text, s)
	case weir.Log:
		return appendLog(text, s)
	}
	return appendBucket(text, s)
}

// Limits returns how many limits it has.
func (s *Scope) Limits() int { return s.limits }
