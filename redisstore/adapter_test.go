package redisstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/redisstore"
	"github.com/weirhq/weir/redisstore/goredis"
	"github.com/weirhq/weir/storetest"
)

// TestAdapters: over the clients of others the store is the same.
func TestAdapters(t *testing.T) {
	server, cluster := redistest.Start(t, redistest.Options{}), redistest.StartCluster(t)
	for name, connect := range map[string]func(*testing.T) redisstore.Runner{
		"go-redis": func(t *testing.T) redisstore.Runner {
			client := redis.NewClient(&redis.Options{Addr: server.Addr})
			t.Cleanup(func() { client.Close() })
			return goredis.New(client)
		},
		"go-redis cluster": func(t *testing.T) redisstore.Runner {
			client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
			t.Cleanup(func() { client.Close() })
			return goredis.New(client)
		},
		"rueidis": func(t *testing.T) redisstore.Runner {
			client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr}, DisableCache: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			return redisstore.Rueidis(client)
		},
		"rueidis cluster": func(t *testing.T) redisstore.Runner {
			client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: cluster.Addrs(), DisableCache: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			return redisstore.Rueidis(client)
		},
	} {
		t.Run(name, func(t *testing.T) {
			runner, cases := connect(t), 0
			storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
				cases++
				store, err := redisstore.New(runner, redisstore.Options{
					Prefix: fmt.Sprintf("%s%d:", name, cases), Timeout: 10 * time.Second, Outage: redisstore.OutageError,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				body(t, redisstore.Virtual(store))
			})
		})
	}
}
