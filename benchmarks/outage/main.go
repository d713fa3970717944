// Command outage measures what callers of weir meet when their Redis stands still: how long an answer takes, how many
// goroutines there are, and how soon Redis decides again.
//
//	go run ./outage                       # 1,000 callers, a pause of 3 s
//	go run ./outage -callers 64 -pause 1s
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/benchmarks/redisrivals"
	"github.com/weirhq/weir/redisstore"
)

// The phases of the measurement.
const (
	before = iota
	during
	after
	phases
)

var names = [phases]string{"before the pause", "during the pause", "after the pause"}

// probe is what all callers share.
type probe struct {
	limiter *weir.Limiter
	phase   atomic.Int32
	over    atomic.Bool
	back    atomic.Int64 // nanoseconds from the resumption to the first decision by Redis
	resumed atomic.Int64

	mu   sync.Mutex
	seen [phases]redisrivals.Histogram
	out  [phases]int // decisions without Redis
	all  [phases]int
}

func main() {
	callers := flag.Int("callers", 1000, "how many ask at once, without a pause")
	pause := flag.Duration("pause", 3*time.Second, "how long the server stands still")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *callers, *pause); err != nil {
		fmt.Fprintln(os.Stderr, "outage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, callers int, pause time.Duration) error {
	server, err := redisrivals.StartServer(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	store, err := redisstore.Open("redis://"+server.Address, redisstore.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	p := &probe{limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("1000/s")})}
	var done sync.WaitGroup
	for i := range callers {
		done.Go(func() { p.ask(ctx, fmt.Sprint("key", i)) })
	}
	most, err := p.conduct(ctx, server, pause)
	p.over.Store(true)
	done.Wait()
	if err != nil {
		return err
	}
	p.print()
	fmt.Printf("\nRedis decided again %v after the pause. At most %d goroutines, %d of them callers.\n",
		time.Duration(p.back.Load()).Round(time.Millisecond), most, callers)
	return nil
}

// conduct goes through the phases and returns the most goroutines that it saw.
func (p *probe) conduct(ctx context.Context, server *redisrivals.Server, pause time.Duration) (most int, err error) {
	watch := func(d time.Duration) {
		for end := time.Now().Add(d); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			most = max(most, runtime.NumGoroutine())
		}
	}
	watch(2 * time.Second)
	p.phase.Store(during)
	if err := server.Pause(); err != nil {
		return 0, err
	}
	watch(pause)
	p.phase.Store(after)
	p.resumed.Store(time.Now().UnixNano())
	if err := server.Resume(); err != nil {
		return 0, err
	}
	watch(2 * time.Second)
	return most, ctx.Err()
}

// ask asks until it is over.
func (p *probe) ask(ctx context.Context, key string) {
	var seen [phases]redisrivals.Histogram
	var out, all [phases]int
	for !p.over.Load() && ctx.Err() == nil {
		phase := p.phase.Load()
		start := time.Now()
		d, err := p.limiter.Allow(ctx, key)
		took := time.Since(start)
		if err != nil {
			continue
		}
		seen[phase].Add(took)
		all[phase]++
		if d.Outage {
			out[phase]++
			time.Sleep(time.Millisecond) // as a server does something with an answer
		} else if phase == after && p.back.Load() == 0 {
			p.back.CompareAndSwap(0, time.Now().UnixNano()-p.resumed.Load())
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range seen {
		p.seen[i].Merge(&seen[i])
		p.out[i] += out[i]
		p.all[i] += all[i]
	}
}

func (p *probe) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tdecisions\twithout Redis\tp50\tp99\tp99.9\tlongest\t")
	for i := range phases {
		h := &p.seen[i]
		fmt.Fprintf(w, "%s\t%d\t%d\t%v\t%v\t%v\t%v\t\n", names[i], p.all[i], p.out[i],
			h.Quantile(0.5), h.Quantile(0.99), h.Quantile(0.999), h.Quantile(1))
	}
	w.Flush()
}
