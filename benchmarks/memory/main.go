// Command memory measures what a key costs in each limiter: resident memory as the kernel counts it, and what the
// garbage collector makes of it.
//
//	go run ./memory                                   # a few minutes
//	go run ./memory -update ../docs/benchmarks.md     # and keep the table
//
// Every figure comes from a process of its own, which this one starts.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/weirhq/weir/benchmarks/internal/report"
	"github.com/weirhq/weir/benchmarks/rivals"
)

func main() {
	sizes := flag.String("keys", "1000000,10000000", "numbers of keys, ascending")
	most := flag.Int("most", 6000, "leave out a limiter that would need more than this many megabytes")
	update := flag.String("update", "", "a document whose table to replace")
	child := flag.String("child", "", "be the process that measures the limiter of this name")
	flag.Parse()
	var err error
	if *child != "" {
		err = beChild(*child, *sizes)
	} else {
		err = run(*sizes, *most, *update)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func run(sizes string, mostMB int, update string) error {
	var b strings.Builder
	b.WriteString("| limiter | keys | B/key with garbage | B/key | GC cycle | GC pauses | filled in |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range rivals.All {
		if !r.Keyed {
			continue
		}
		perKey := 0.0
		for size := range strings.SplitSeq(sizes, ",") {
			n, err := strconv.Atoi(size)
			if err != nil || n < 1 {
				return fmt.Errorf("-keys has %q; use numbers of at least 1 with commas between", size)
			}
			if perKey*float64(n) > float64(mostMB)*1e6 {
				fmt.Fprintf(&b, "| %s | %d | above %d MB: left out | | | | |\n", r.Name, n, mostMB)
				continue
			}
			fmt.Fprintf(os.Stderr, "%s, %d keys\n", r.Name, n)
			f, err := startChild(r.Name, n)
			if err != nil {
				return err
			}
			perKey = f.Filled
			fmt.Fprintf(&b, "| %s | %d | %.0f | **%.0f** | %.1f ms | %.0f µs | %.1f s |\n",
				r.Name, n, f.Filled, f.Kept, f.CycleMillis, f.PauseMicros, f.FillSeconds)
		}
	}
	text := b.String() + "\n" + report.Provenance("go run ./memory -keys "+sizes) + "\n"
	fmt.Print(text)
	if update == "" {
		return nil
	}
	return report.Update(update, "memory", text)
}

// startChild measures the rival of a name with n keys in a process of its own.
func startChild(name string, n int) (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return figures{}, err
	}
	command := exec.Command(self, "-child", name, "-keys", strconv.Itoa(n))
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return figures{}, fmt.Errorf("%s with %d keys: %w", name, n, err)
	}
	var f figures
	err = json.NewDecoder(bytes.NewReader(out)).Decode(&f)
	return f, err
}
