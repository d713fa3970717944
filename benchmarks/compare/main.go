// Command compare measures weir and other limiters under the same workloads and prints one table.
//
//	go run ./compare                                  # a few minutes
//	go run ./compare -update ../docs/benchmarks.md    # and keep the table
//
// It makes rounds: in each, every limiter does every workload once, from a fresh state, so that what disturbs the
// machine disturbs all alike. Figures are medians over the rounds.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/weirhq/weir/benchmarks/internal/report"
	"github.com/weirhq/weir/benchmarks/rivals"
)

func main() {
	rounds := flag.Int("rounds", 15, "how often every limiter does every workload")
	update := flag.String("update", "", "a document whose table to replace")
	flag.Parse()
	if err := run(*rounds, *update); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(rounds int, update string) error {
	if rounds < 1 {
		return fmt.Errorf("-rounds is %d; use at least 1", rounds)
	}
	keys := rivals.Keys()
	contestants := slices.Concat(rivals.All, []rivals.Rival{rivals.WeirThree})
	for _, r := range contestants {
		if err := r.Check(keys); err != nil {
			return err
		}
	}
	contestants = append(contestants, loopAlone)
	table := newTable(contestants, rivals.Workloads(keys))
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "\rround %d of %d", round+1, rounds)
		if err := table.measure(round); err != nil {
			return err
		}
	}
	fmt.Fprintln(os.Stderr)
	text := table.markdown() + "\n" + report.Provenance(fmt.Sprintf("go run ./compare -rounds %d", rounds)) + "\n"
	fmt.Print(text)
	if update == "" {
		return nil
	}
	return report.Update(update, "compare", text)
}

// loopAlone decides nothing: its time is that of the harness, and is contained in all others.
var loopAlone = rivals.Rival{Name: "(the loop alone)", Keyed: true, New: func(int) rivals.Limiter { return nothing{} }}

type nothing struct{}

func (nothing) Allow(key string) bool { return key[len(key)-1] != 0 } // reads the key, as every limiter must
func (nothing) Close()                {}
