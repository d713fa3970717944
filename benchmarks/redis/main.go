// Command redis measures weir and other limiters that share their state through one Redis, which it starts itself.
//
//	go run ./redis                                    # ten minutes
//	go run ./redis -rounds 1 -duration 200ms          # a minute: is all well?
//	go run ./redis -update ../docs/benchmarks.md      # and keep the tables
//
// It makes rounds: in each, every limiter does every workload once, in a random order, on a Redis that holds its keys
// and nothing else. Figures are medians over the rounds. Those of a single caller depend on where the kernel puts the two
// processes, and on how soon an idle processor wakes up: mind their spread.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/weirhq/weir/benchmarks/internal/report"
	"github.com/weirhq/weir/benchmarks/redisrivals"
)

type options struct {
	rounds   int
	duration time.Duration
	only     string
	seed     uint64
	update   string
	keys     int
}

func main() {
	o := options{keys: redisrivals.TableKeys}
	flag.IntVar(&o.rounds, "rounds", 5, "how often every limiter does every workload")
	flag.DurationVar(&o.duration, "duration", time.Second, "how long each time, after a fifth of that to warm up")
	flag.StringVar(&o.only, "only", "", "a regular expression: leave out limiters whose names do not match")
	flag.Uint64Var(&o.seed, "seed", 1, "makes the order of the keys and of the limiters")
	flag.StringVar(&o.update, "update", "", "a document whose tables to replace")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "redis:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) error {
	contestants, err := o.contestants()
	if err != nil {
		return err
	}
	server, err := redisrivals.StartServer(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	for _, r := range contestants {
		if err := r.Check(server); err != nil {
			return err
		}
	}
	results := newTable(contestants, redisrivals.Workloads(o.keys, o.seed), o.seed)
	for round := range o.rounds {
		fmt.Fprintf(os.Stderr, "\rround %d of %d", round+1, o.rounds)
		if err := results.measure(ctx, server, round, o.duration); err != nil {
			return err
		}
	}
	fmt.Fprintln(os.Stderr)
	versions, err := versionsOf(server)
	if err != nil {
		return err
	}
	text := results.markdown() + versions + "\n\n" + report.Provenance(o.command()) + "\n"
	fmt.Fprint(out, text)
	if o.update == "" {
		return nil
	}
	return report.Update(o.update, "redis", text)
}

// contestants returns the rivals that the options ask for.
func (o *options) contestants() ([]redisrivals.Rival, error) {
	if o.rounds < 1 || o.duration < 10*time.Millisecond {
		return nil, fmt.Errorf("-rounds is %d and -duration %v; use at least 1 and 10ms", o.rounds, o.duration)
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	var contestants []redisrivals.Rival
	for _, r := range redisrivals.All {
		if only.MatchString(r.Name) {
			contestants = append(contestants, r)
		}
	}
	if len(contestants) == 0 {
		return nil, fmt.Errorf("-only %s leaves no limiter", o.only)
	}
	return contestants, nil
}

// command returns the command line that measures the same again.
func (o *options) command() string {
	text := fmt.Sprintf("go run ./redis -rounds %d -duration %v -seed %d", o.rounds, o.duration, o.seed)
	if o.only != "" {
		text += fmt.Sprintf(" -only '%s'", o.only)
	}
	return text
}
