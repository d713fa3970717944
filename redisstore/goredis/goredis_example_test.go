package goredis_test

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir/redisstore/goredis"
)

func ExampleNew() {
	client := redis.NewClient(&redis.Options{
		Addr:                  "localhost:6379",
		ContextTimeoutEnabled: true, // or calls wait longer for a server that hangs than they may
	})
	defer client.Close()
	runner := goredis.New(client) // for redisstore.New
	fmt.Println(runner.Clustered())
	// Output: false
}
