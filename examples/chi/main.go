// Command chi limits all routes of a chi router together, and logins more strictly: two per minute for each client.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/go-chi/chi/v5"

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
	r := chi.NewRouter()
	r.Use(perClient(store, "all", "20/s burst 40"))
	r.Get("/", hello)
	r.With(perClient(store, "login", "2/m")).Post("/login", hello)
	return r
}

// perClient returns a middleware with one policy. The limiter has the policy's name: two limiters without names would
// count in the same place.
func perClient(store weir.Store, name, limit string) func(http.Handler) http.Handler {
	return httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
		Name:    name,
		Limiter: weir.MustNew(store, weir.Options{Name: name, Limits: weir.MustParseLimits(limit)}),
		Key:     httplimit.ClientIP(httplimit.ClientIPOptions{}),
	}}})
}

func hello(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") }
