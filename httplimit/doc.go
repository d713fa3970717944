// Package httplimit limits HTTP requests with a [weir.Limiter]: a middleware for net/http and every router that
// takes func(http.Handler) http.Handler.
//
//	limiter := weir.MustNew(store, weir.Options{Limits: weir.MustParseLimits("100/m")})
//	limit := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
//		Limiter: limiter,
//		Key:     httplimit.ClientIP(httplimit.ClientIPOptions{}),
//	}}})
//	http.ListenAndServe(":8080", limit(mux))
//
// A [Policy] says whom a request is counted for ([Key]), what it costs ([Cost]) and what happens when that cannot be
// decided. A refusal is answered with 429, Retry-After and problem+json; what could not be decided with 400 or 503.
// Nothing passes unlimited unless a Skip function, FailOpen or Shadow says so.
//
// # Trust
//
// [ClientIP] believes the address of the connection and no header, until [ClientIPOptions] names one header and the
// proxies that may write it. What is known to be unsafe is refused by [New] with a [ConfigError], what is suspicious
// is logged; the codes are listed beside [Code] and explained in docs/http.md.
//
// # Reading the source
//
// [Options] (what can be said), [Key] (whom), middleware.go (the path of a request), [Outcome] (what came of each
// policy), headers.go (what clients are told), clientip.go (who the client is).
package httplimit
