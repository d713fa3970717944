// Command echo limits the clients of an echo server that stands behind a proxy on the same machine or network.
package main

import (
	"log"
	"net/http"
	"net/netip"

	"github.com/labstack/echo/v4"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

// proxies may say for whom they connect. Nobody else may.
var proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}

func main() {
	store := memstore.MustNew(memstore.Options{})
	defer store.Close()
	log.Print("listening on http://localhost:8080")
	log.Fatal(http.ListenAndServe("localhost:8080", handler(store)))
}

func handler(store weir.Store) http.Handler {
	limit := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
		Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("2/s", "100/h sliding-window")}),
		Key:     httplimit.ClientIP(httplimit.ClientIPOptions{Header: "X-Forwarded-For", TrustedProxies: proxies}),
	}}})
	e := echo.New()
	e.Use(echo.WrapMiddleware(limit))
	e.GET("/", func(c echo.Context) error { return c.String(http.StatusOK, "hello\n") })
	return e
}
