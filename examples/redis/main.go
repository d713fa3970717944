// Command redis limits the clients of a net/http server, all its processes together: the state is in Redis.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/redisstore"
)

func main() {
	listen := flag.String("listen", "localhost:8080", "where to listen")
	redis := flag.String("redis", "redis://localhost:6379/0", "the `URL` of the Redis that all processes share")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *listen, *redis); err != nil {
		log.Fatal(err)
	}
}

// serve answers until ctx ends, and then lets requests under way finish.
func serve(ctx context.Context, listen, redis string) error {
	// While Redis is away each process limits by itself, here to half the limit, as one of two.
	store, err := redisstore.Open(redis, redisstore.Options{Outage: redisstore.OutageLocal, Processes: 2})
	if err != nil {
		return err
	}
	defer store.Close()
	server := &http.Server{Addr: listen, Handler: handler(store), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	log.Printf("listening on http://%s", listen)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return server.Shutdown(ctx)
}

func handler(store weir.Store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })

	limit := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
		Limiter: weir.MustNew(store, weir.Options{Name: "example", Limits: weir.MustParseLimits("10/m")}),
		Key:     httplimit.ClientIP(httplimit.ClientIPOptions{}),
	}}})
	return limit(mux)
}
