package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/testdata"
)

// Op is what a [Step] does.
type Op string

// The operations.
const (
	Take   Op = "take"
	Peek   Op = "peek"
	Refund Op = "refund"
	Charge Op = "charge"
	Reset  Op = "reset"
	Limits Op = "limits" // puts the step's limits in force
)

// Trace is a story of one key: steps in time, with the decision that each must bring. The package documentation says
// how it is written.
type Trace struct {
	// Name is the file and the title, such as "smooth.trace: a burst, then the steady rate".
	Name string
	// Limits are in force when it begins.
	Limits []weir.Limit
	// Start is when it begins.
	Start time.Time
	// Steps follow each other.
	Steps []Step
}

// Step is one operation of a [Trace].
type Step struct {
	// Line is the number of the step's line in its file, and Text what it says.
	Line int
	Text string
	// Advance is by how much time moves before the operation. It may be negative: see [Trace.Backwards].
	Advance time.Duration
	// Op is the operation, N its cost or number of units.
	Op Op
	N  int64
	// Limits are in force from a step of [Limits] on.
	Limits []weir.Limit
	// Want are the figures that the operation must bring, in the order of the limits; none for [Reset] and [Limits].
	Want []weir.Figures
}

// Traces returns the golden traces of this project.
func Traces() ([]Trace, error) {
	files, err := testdata.Traces.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []Trace
	for _, file := range files {
		text, err := testdata.Traces.ReadFile(file.Name())
		if err != nil {
			return nil, err
		}
		traces, err := ParseTraces(file.Name(), text)
		if err != nil {
			return nil, err
		}
		all = append(all, traces...)
	}
	return all, nil
}

// ParseTraces reads a file of traces. Errors begin with its name and the line.
func ParseTraces(name string, text []byte) ([]Trace, error) {
	p := traceParser{file: name}
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := p.line(i+1, line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if err := p.end(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p.traces, nil
}

// Backwards says whether the trace moves time back, which the clock of a store never does.
func (t *Trace) Backwards() bool {
	return slices.ContainsFunc(t.Steps, func(s Step) bool { return s.Advance < 0 })
}

// Play performs the steps by do, which returns the figures of the limits in force, and compares. For [Reset] and
// [Limits] it returns none. The first difference ends it as an error that says where, got and want.
func (t *Trace) Play(do func(Step) ([]weir.Figures, error)) error {
	for _, step := range t.Steps {
		got, err := do(step)
		if err != nil {
			return fmt.Errorf("%s: line %d: %s: %w", t.Name, step.Line, step.Text, err)
		}
		if !slices.Equal(got, step.Want) {
			return fmt.Errorf("%s: line %d: %s\n got %s\nwant %s", t.Name, step.Line, step.Text, Format(got), Format(step.Want))
		}
	}
	return nil
}

// Format writes figures as traces do.
func Format(figures []weir.Figures) string {
	verdict := "allowed"
	parts := make([]string, len(figures))
	for i, f := range figures {
		parts[i] = strconv.FormatInt(f.Remaining, 10)
		switch f.RetryAfter {
		case 0:
		case weir.Never:
			parts[i] += " never"
		default:
			parts[i] += " retry " + f.RetryAfter.String()
		}
		if f.RetryAfter != 0 {
			verdict = "refused"
		}
		if f.ResetAfter != 0 {
			parts[i] += " reset " + f.ResetAfter.String()
		}
	}
	return verdict + " " + strings.Join(parts, " | ")
}

// traceParser holds the traces so far; the last of them is being read.
type traceParser struct {
	file   string
	traces []Trace
	limits []weir.Limit // in force
}

func (p *traceParser) line(n int, line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if word == "trace" {
		if err := p.end(); err != nil {
			return err
		}
		p.traces = append(p.traces, Trace{Name: p.file + ": " + rest})
		p.limits = nil
		return nil
	}
	if len(p.traces) == 0 {
		return errors.New(`"trace" and a title must come first`)
	}
	t := &p.traces[len(p.traces)-1]
	switch {
	case word == "limit" && len(t.Steps) > 0:
		return errors.New(`"limit" after a step; use the operation limits`)
	case word == "limit":
		limits, err := parseLimits(rest)
		t.Limits = append(t.Limits, limits...)
		p.limits = t.Limits
		return err
	case word == "at":
		at, err := time.Parse(time.RFC3339Nano, rest)
		t.Start = at
		return err
	case word[0] == '+' || word[0] == '-':
		step, err := p.step(word, rest)
		step.Line, step.Text = n, strings.Join(strings.Fields(line), " ")
		t.Steps = append(t.Steps, step)
		return err
	}
	return fmt.Errorf(`%q is not known; use trace, limit, at, or a step such as "+1s take 1 -> allowed 9 reset 1s"`, word)
}

// end checks the trace that has been read.
func (p *traceParser) end() error {
	if len(p.traces) == 0 {
		return nil
	}
	t := &p.traces[len(p.traces)-1]
	switch {
	case len(t.Limits) == 0:
		return fmt.Errorf("%s: no limit", t.Name)
	case t.Start.IsZero():
		return fmt.Errorf("%s: no time to begin at", t.Name)
	case len(t.Steps) == 0:
		return fmt.Errorf("%s: no steps", t.Name)
	}
	return nil
}

func (p *traceParser) step(advance, rest string) (step Step, err error) {
	if step.Advance, err = time.ParseDuration(advance); err != nil {
		return step, err
	}
	call, want, decides := strings.Cut(rest, "->")
	op, argument, _ := strings.Cut(strings.TrimSpace(call), " ")
	argument = strings.TrimSpace(argument)
	switch step.Op = Op(op); step.Op {
	case Reset, Limits:
		if decides {
			return step, fmt.Errorf("%s brings no decision", op)
		}
		if step.Op == Limits {
			step.Limits, err = parseLimits(argument)
			p.limits = step.Limits
		}
		return step, err
	case Take, Peek, Refund, Charge:
		if step.N, err = strconv.ParseInt(argument, 10, 64); err != nil {
			return step, err
		}
		step.Want, err = parseFigures(want, p.limits)
		return step, err
	}
	return step, fmt.Errorf("operation %q is not known; use take, peek, refund, charge, reset or limits", op)
}

func parseLimits(text string) ([]weir.Limit, error) {
	parts := strings.Split(text, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return weir.ParseLimits(parts...)
}

func parseFigures(text string, limits []weir.Limit) ([]weir.Figures, error) {
	verdict, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	parts := strings.Split(rest, "|")
	if len(parts) != len(limits) {
		return nil, fmt.Errorf("figures of %d limits, want %d", len(parts), len(limits))
	}
	figures := make([]weir.Figures, len(parts))
	refused := false
	for i, part := range parts {
		f, err := parseFigure(strings.Fields(part))
		if err != nil {
			return nil, fmt.Errorf("figures %q: %w", strings.TrimSpace(part), err)
		}
		spec, err := weir.SpecOf(limits[i])
		if err != nil {
			return nil, err
		}
		f.Limit = spec.Quota
		figures[i] = f
		refused = refused || f.RetryAfter != 0
	}
	if verdict != "allowed" && verdict != "refused" || (verdict == "refused") != refused {
		return nil, fmt.Errorf("%q contradicts the figures, or is neither allowed nor refused", verdict)
	}
	return figures, nil
}

func parseFigure(words []string) (f weir.Figures, err error) {
	if len(words) == 0 {
		return f, errors.New("nothing remains to be read")
	}
	f.Remaining, err = strconv.ParseInt(words[0], 10, 64)
	for words = words[1:]; err == nil && len(words) > 0; words = words[1:] {
		switch {
		case words[0] == "never":
			f.RetryAfter = weir.Never
			continue
		case len(words) > 1 && words[0] == "retry":
			f.RetryAfter, err = time.ParseDuration(words[1])
		case len(words) > 1 && words[0] == "reset":
			f.ResetAfter, err = time.ParseDuration(words[1])
		default:
			return f, fmt.Errorf(`%q is not "retry" or "reset" with a wait, nor "never"`, words[0])
		}
		words = words[1:]
	}
	return f, err
}
