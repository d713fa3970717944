package memstore_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
)

func Example() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("2/h")})
	for range 3 {
		d, err := limiter.Allow(context.Background(), "user:42")
		fmt.Println(d.Allowed, d.Remaining, err)
	}
	// Output:
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
}

func ExampleNew() {
	_, err := memstore.New(memstore.Options{MaxKeys: -1})
	fmt.Println(err)
	// Output: memstore: invalid options: MaxKeys is -1; use 1 to 2147483647, or 0 for 16777216
}

func ExampleMustNew() {
	store := memstore.MustNew(memstore.Options{MaxKeys: 1_000_000})
	defer store.Close()
	fmt.Println(store.Len())
	// Output: 0
}

func ExampleStore_Len() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("10/h", "100/d")})
	for _, key := range []string{"ann", "bob", "ann"} {
		limiter.Allow(context.Background(), key)
	}
	fmt.Println(store.Len(), "entries of 2 keys under 2 limits")
	// Output: 4 entries of 2 keys under 2 limits
}

func ExampleStore_Close() {
	store := memstore.MustNew(memstore.Options{})
	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("10/h")})
	store.Close()
	_, err := limiter.Allow(context.Background(), "ann")
	fmt.Println(err)
	// Output: weir: allow "ann": memstore: store is closed
}

// A store outlives its process in a file; here, in a buffer.
func ExampleStore_Snapshot() {
	ctx := context.Background()
	options := weir.Options{Limits: weir.MustParseLimits("10/h")}
	before := memstore.MustNew(memstore.Options{})
	weir.MustNew(before, options).AllowN(ctx, "ann", 7)
	var file bytes.Buffer
	fmt.Println(before.Snapshot(&file))
	before.Close()

	after := memstore.MustNew(memstore.Options{})
	defer after.Close()
	fmt.Println(after.Restore(&file))
	d, err := weir.MustNew(after, options).Peek(ctx, "ann")
	fmt.Println(d.Remaining, err)
	// Output:
	// <nil>
	// <nil>
	// 3 <nil>
}

func ExampleStore_Restore() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	err := store.Restore(bytes.NewReader([]byte("this is no snapshot, whoever says so")))
	fmt.Println(err != nil, store.Len())
	// Output: true 0
}
