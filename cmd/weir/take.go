package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/redisstore"
)

// takeCmd is weir take.
type takeCmd struct {
	Key     string        `arg:"" help:"Whom or what is limited, such as user:42."`
	Limit   []string      `placeholder:"LIMIT" sep:"none" help:"A limit such as '5/m' or '10/s burst 20'; several are decided all-or-nothing. Only --reset goes without."`
	Cost    int64         `default:"1" placeholder:"N" help:"How many units to take (${default})."`
	Peek    bool          `xor:"op" help:"Only look: say what taking would bring."`
	Refund  bool          `xor:"op" help:"Give the units back."`
	Reset   bool          `xor:"op" help:"Forget the key, whatever its limits."`
	Wait    waitFlag      `xor:"op" placeholder:"MAX" help:"Wait until the units are there, with =MAX not longer than that, such as --wait=30s."`
	Store   *string       `placeholder:"URL" help:"The Redis that holds the state: by default what WEIR_STORE says, or ${store}."`
	Name    string        `placeholder:"NAME" help:"The namespace of the key, as weir.Options.Name in Go."`
	Prefix  string        `placeholder:"PREFIX" help:"What all keys in Redis begin with, as redisstore.Options.Prefix in Go (weir:)."`
	Timeout time.Duration `default:"2s" placeholder:"DURATION" help:"How long Redis may take to answer (${default})."`
	JSON    bool          `name:"json" help:"Write one JSON document instead of text."`
}

// waitFlag is --wait, --wait=MAX or neither.
type waitFlag struct {
	set bool
	max time.Duration // 0 is without end
}

// Decode implements kong.MapperValue.
func (w *waitFlag) Decode(ctx *kong.DecodeContext) error {
	w.set = true
	token := ctx.Scan.Peek()
	text := fmt.Sprint(token.Value)
	d, err := time.ParseDuration(text)
	good := err == nil && d > 0
	switch {
	case token.Type != kong.FlagValueToken && good:
		return fmt.Errorf("%s is taken for a key; write --wait=%s, or put a key of that name before --wait", text, text)
	case token.Type != kong.FlagValueToken:
		return nil
	case !good:
		return fmt.Errorf("--wait=%s is no duration above 0; write one such as --wait=30s, or --wait alone", text)
	}
	ctx.Scan.Pop()
	w.max = d
	return nil
}

// IsBool implements kong.BoolMapperValue: the value may be left out.
func (w *waitFlag) IsBool() bool { return true }

// Run does what the flags say, and answers with the exit status.
func (c *takeCmd) Run(a *app) error {
	limiter, done, err := c.open(a.ctx)
	if err != nil {
		return c.failed(err)
	}
	defer done()
	var d weir.Decision
	switch {
	case c.Reset:
		err = limiter.Reset(a.ctx, c.Key)
	case c.Peek:
		d, err = limiter.PeekN(a.ctx, c.Key, c.Cost)
	case c.Refund:
		d, err = limiter.Refund(a.ctx, c.Key, c.Cost)
	default:
		d, err = c.take(a, limiter)
	}
	if err != nil {
		return c.failed(err)
	}
	if err := c.tell(a.stdout, d); err != nil {
		return c.failed(fmt.Errorf("done, but the answer cannot be written: %w; see that standard output takes it", err))
	}
	if !d.Allowed && !c.Refund && !c.Reset {
		return refused{}
	}
	return nil
}

func (c *takeCmd) failed(err error) error { return undecidedError{err} }

// undecidedError says that nothing was decided, which is another status than that of a refusal.
type undecidedError struct{ err error }

func (e undecidedError) Error() string { return "take: " + e.err.Error() }
func (e undecidedError) Unwrap() error { return e.err }
func (e undecidedError) status() int   { return statusUndecided }

// refused is the end of a command that has already said what there is to say.
type refused struct{}

func (refused) Error() string { return "" }
func (refused) status() int   { return statusRefused }

// open makes a limiter of the flags.
func (c *takeCmd) open(ctx context.Context) (*weir.Limiter, func(), error) {
	switch {
	case c.Timeout < redisstore.MinTimeout || c.Timeout > redisstore.MaxTimeout:
		return nil, nil, fmt.Errorf("--timeout is %v; use %v to %v", c.Timeout, redisstore.MinTimeout, redisstore.MaxTimeout)
	case c.Cost < 0 || c.Cost > weir.MaxQuota:
		return nil, nil, fmt.Errorf("--cost is %d; use 0 to %d", c.Cost, int64(weir.MaxQuota))
	case len(c.Limit) == 0 && !c.Reset:
		return nil, nil, errors.New("--limit is missing; give one or more, such as --limit '5/m' (only --reset goes without)")
	}
	texts := c.Limit
	if c.Reset {
		texts = slices.Repeat([]string{"1/s"}, weir.MaxLimits) // any do, in all positions that a key can have
	}
	limits, err := weir.ParseLimits(texts...)
	if err != nil {
		return nil, nil, err
	}
	url, from := storeURL(c.Store)
	// What the log would say, the errors say too.
	store, err := openStore(ctx, url, from, redisstore.Options{Prefix: c.Prefix, Timeout: c.Timeout, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	limiter, err := weir.New(store, weir.Options{Name: c.Name, Limits: limits})
	if err != nil {
		store.Close()
		return nil, nil, err
	}
	return limiter, func() { store.Close() }, nil
}

// take takes, with --wait until it is admitted. It gives up at once when waiting would take longer than it may.
func (c *takeCmd) take(a *app, limiter *weir.Limiter) (weir.Decision, error) {
	start := time.Now()
	for {
		d, err := limiter.AllowN(a.ctx, c.Key, c.Cost)
		if err != nil || d.Allowed || !c.Wait.set || d.RetryAfter == weir.Never {
			return d, err
		}
		if c.Wait.max > 0 && time.Since(start)+d.RetryAfter > c.Wait.max {
			return d, nil
		}
		timer := time.NewTimer(d.RetryAfter)
		select {
		case <-timer.C:
		case <-a.ctx.Done():
			timer.Stop()
			return d, errors.New("interrupted while waiting; nothing was taken")
		}
	}
}

// takeBody is the JSON of a decision. Times are in seconds; a retry_after of null is never.
type takeBody struct {
	Key        string      `json:"key"`
	Allowed    bool        `json:"allowed"`
	Limit      int64       `json:"limit"`
	Remaining  int64       `json:"remaining"`
	RetryAfter *float64    `json:"retry_after_seconds"`
	ResetAfter float64     `json:"reset_after_seconds"`
	Limits     []limitBody `json:"limits"`
}

type limitBody struct {
	Limit      string   `json:"limit"`
	Remaining  int64    `json:"remaining"`
	RetryAfter *float64 `json:"retry_after_seconds"`
	ResetAfter float64  `json:"reset_after_seconds"`
}

func seconds(d time.Duration) *float64 {
	if d == weir.Never {
		return nil
	}
	s := d.Seconds()
	return &s
}

func (c *takeCmd) tell(w io.Writer, d weir.Decision) error {
	if c.Reset {
		return c.tellReset(w)
	}
	if c.JSON {
		body := takeBody{Key: c.Key, Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining,
			RetryAfter: seconds(d.RetryAfter), ResetAfter: d.ResetAfter.Seconds()}
		for i, f := range d.Figures() {
			body.Limits = append(body.Limits, limitBody{c.Limit[i], f.Remaining, seconds(f.RetryAfter), f.ResetAfter.Seconds()})
		}
		return json.NewEncoder(w).Encode(body)
	}
	word := "allowed"
	switch {
	case c.Refund:
		word = "given back"
	case d.RetryAfter == weir.Never:
		_, err := fmt.Fprintf(w, "refused for ever: %d is more than %q can ever give\n", c.Cost, c.Limit[d.Deciding])
		return err
	case !d.Allowed:
		_, err := fmt.Fprintf(w, "refused by %q: come back in %v\n", c.Limit[d.Deciding], d.RetryAfter)
		return err
	}
	_, err := fmt.Fprintf(w, "%s: %d of %d left\n", word, d.Remaining, d.Limit)
	return err
}

func (c *takeCmd) tellReset(w io.Writer) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(map[string]any{"key": c.Key, "reset": true})
	}
	_, err := fmt.Fprintln(w, "forgotten")
	return err
}
