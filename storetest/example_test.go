package storetest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
	"github.com/weirhq/weir/storetest"
)

// A store's test opens a fresh store for each case, here in a bubble whose time stands still until it is moved.
func ExampleRun() {
	test := func(t *testing.T) { // func TestStore(t *testing.T)
		storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
			synctest.Test(t, func(t *testing.T) {
				store := memstore.MustNew(memstore.Options{})
				defer store.Close()
				body(t, storetest.Rig{Store: store, Advance: time.Sleep, Now: time.Now})
			})
		})
	}
	fmt.Printf("%T\n", test)
	// Output: func(*testing.T)
}

// A trace can be told to anything that decides.
func ExampleTrace_Play() {
	traces, err := storetest.ParseTraces("lunch.trace", []byte(`
		trace two at once, the third waits
		limit 2/h
		at 2024-01-01T12:00:00Z
		+0s take 2 -> allowed 0 reset 1h
		+0s take 1 -> allowed 0 reset 1h  # a mistake
	`))
	if err != nil {
		fmt.Println(err)
		return
	}
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	limiter := weir.MustNew(store, weir.Options{Limits: traces[0].Limits})
	err = traces[0].Play(func(step storetest.Step) ([]weir.Figures, error) {
		d, err := limiter.AllowN(context.Background(), "lunch", step.N)
		f := d.Figures()
		for i := range f { // real time passes in this example
			f[i].RetryAfter, f[i].ResetAfter = f[i].RetryAfter.Round(time.Minute), f[i].ResetAfter.Round(time.Minute)
		}
		return f, err
	})
	fmt.Println(err)
	// Output:
	// lunch.trace: two at once, the third waits: line 6: +0s take 1 -> allowed 0 reset 1h
	//  got refused 0 retry 30m0s reset 1h0m0s
	// want allowed 0 reset 1h0m0s
}

func ExampleTraces() {
	traces, err := storetest.Traces()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, trace := range traces[:2] {
		fmt.Println(trace.Name, trace.Limits)
	}
	// Output:
	// aligned.trace: a window [5/m fixed-window]
	// aligned.trace: refund and debt [5/m fixed-window]
}

func ExampleFormat() {
	fmt.Println(storetest.Format([]weir.Figures{
		{Limit: 10, Remaining: 3, ResetAfter: 700 * time.Millisecond},
		{Limit: 5, RetryAfter: time.Minute, ResetAfter: time.Minute},
	}))
	// Output: refused 3 reset 700ms | 0 retry 1m0s reset 1m0s
}
