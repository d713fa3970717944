// Command gin limits the clients of a gin engine by API key, or by address where there is none.
package main

import (
	"log"
	"net/http"

	"github.com/gin-gonic/gin"

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
	limit := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
		Limiter: weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("3/m")}),
		Key:     httplimit.First(httplimit.Header("X-API-Key"), httplimit.ClientIP(httplimit.ClientIPOptions{})),
	}}})
	engine := gin.New()
	engine.Use(gin.Recovery(), adapt(limit))
	engine.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "hello\n") })
	return engine
}

// adapt runs a net/http middleware as a handler of gin: the chain goes on where the middleware calls its next handler,
// and stops where it answers by itself.
func adapt(limit func(http.Handler) http.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		passed := false
		limit(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			passed = true
			c.Request = r
			c.Next()
		})).ServeHTTP(c.Writer, c.Request)
		if !passed {
			c.Abort()
		}
	}
}
