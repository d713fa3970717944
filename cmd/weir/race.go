package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/weirhq/weir/internal/race"
)

// raceCmd is weir race.
type raceCmd struct {
	Store    *string `placeholder:"URL" help:"The Redis to race on: by default what WEIR_STORE says, or ${store}. Keys weir:race:* are written, and deleted at the end."`
	Limit    int     `default:"50" placeholder:"N" help:"How many requests may be admitted in all (${default})."`
	Workers  int     `default:"64" placeholder:"N" help:"How many ask at once, each with its own connection (${default})."`
	Requests int     `default:"5000" placeholder:"N" help:"How many requests they make together, in each way (${default})."`
	JSON     bool    `name:"json" help:"Write one JSON document instead of text."`
}

// Run lets the ways race, and shows what each did.
func (c *raceCmd) Run(a *app) error {
	progress := newScreen(a.stderr)
	url, from := storeURL(c.Store)
	report, err := race.Run(a.ctx, race.Options{
		Store: url, Limit: c.Limit, Workers: c.Workers, Requests: c.Requests,
		Begin: func(title string) { progress.show("racing: " + title) },
	})
	progress.show("")
	if bad := (*race.OptionError)(nil); errors.As(err, &bad) {
		name := "--" + strings.ToLower(bad.Field)
		if bad.Field == "Store" {
			name = from
		}
		return usageError{fmt.Errorf("race: %s %s; %s", name, bad.Problem, bad.Remedy)}
	}
	if err != nil {
		return err
	}
	if err := c.write(a, report); err != nil {
		return err
	}
	for _, w := range report.Ways {
		if w.Errors > 0 {
			return fmt.Errorf("race: %d of %d requests failed with %q, the first with: %s; see to the Redis and run it again", w.Errors, c.Requests, w.Title, w.FirstError)
		}
	}
	return nil
}

func (c *raceCmd) write(a *app, report *race.Report) error {
	if c.JSON {
		encoder := json.NewEncoder(a.stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(report)
	}
	style := race.Style{Width: 80}
	if out := newScreen(a.stdout); out.terminal {
		style = race.Style{Width: out.width(), Blocks: true, Color: os.Getenv("NO_COLOR") == ""}
		if style.Width == 0 {
			style.Width = 80
		}
	}
	return report.WriteText(a.stdout, style)
}
