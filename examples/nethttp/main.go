// Command nethttp limits every client of a net/http server to 5 requests at once and one more every 12 seconds.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

func main() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	log.Print("listening on http://localhost:8080")
	log.Fatal(http.ListenAndServe("localhost:8080", handler(store)))
}

func handler(store weir.Store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })

	limit := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
		Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("5/m")}),
		Key:     httplimit.ClientIP(httplimit.ClientIPOptions{}),
	}}})
	return limit(mux)
}
