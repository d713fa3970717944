package demo

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/memstore"
)

// Options configure a [Server]. The zero value works.
type Options struct {
	// Store holds the bucket. It must be able to look without charging ([weir.Peeker]). Nil is a store in memory of
	// its own.
	Store weir.Store
}

// Server is the demonstration: an [http.Handler] over one bucket that all its visitors share. It is safe for
// concurrent use; make one with [New].
type Server struct {
	handler http.Handler
	tally   *tally

	// mu is held for reading while a request is decided, for writing while the limit changes: a request that began
	// under the old limit cannot charge it after the new one is in force.
	mu    sync.RWMutex
	rules *rules
}

// rules is the limit in force with what decides it. Immutable.
type rules struct {
	config  config
	limiter *weir.Limiter
	test    http.Handler // answers POST /test, behind the middleware
}

// limiterName separates the bucket from whatever else is in the store.
const limiterName = "demo"

// bucketKey is the one key of the demonstration: the key of httplimit.Global.
const bucketKey = "global"

// New returns a server whose bucket is full, with a capacity of 10 and 1 token per second.
func New(opts Options) (*Server, error) {
	store := opts.Store
	if store == nil {
		store = memstore.MustNew(memstore.Options{})
	}
	if _, ok := store.(weir.Peeker); !ok {
		return nil, fmt.Errorf("demo: the store %T cannot look without charging (weir.Peeker); use one that can, such as *memstore.Store", store)
	}
	first := defaultConfig()
	limiter, err := weir.New(store, weir.Options{Name: limiterName, Limits: []weir.Limit{first.limit()}})
	if err != nil {
		return nil, err
	}
	s := &Server{tally: newTally(time.Now())}
	if s.rules, err = s.newRules(first, limiter); err != nil {
		return nil, err
	}
	s.handler = s.routes()
	return s, nil
}

func (s *Server) newRules(c config, limiter *weir.Limiter) (*rules, error) {
	limited, err := httplimit.New(httplimit.Options{
		Policies:     []httplimit.Policy{{Name: limiterName, Limiter: limiter, Key: httplimit.Global()}},
		Refused:      s.answer,
		Failed:       s.fail,
		KeepOutcomes: true,
	})
	if err != nil {
		return nil, err
	}
	allowed := func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, httplimit.FromContext(r.Context())[0])
	}
	return &rules{config: c, limiter: limiter, test: limited(http.HandlerFunc(allowed))}, nil
}

// change puts c in force at this instant. What was consumed carries over. On an error nothing has changed.
func (s *Server) change(ctx context.Context, edit func(config) (config, error)) (config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := edit(s.rules.config)
	if err != nil {
		return config{}, err
	}
	limiter, err := s.rules.limiter.With(c.limit())
	if err != nil {
		return config{}, limitError(err)
	}
	next, err := s.newRules(c, limiter)
	if err != nil {
		return config{}, err
	}
	// A store carries a bucket over when it next writes it, and until then it would refill as before. A cost of 0
	// writes and takes nothing.
	if _, err := limiter.AllowN(ctx, bucketKey, 0); err != nil {
		return config{}, err
	}
	s.rules = next
	return c, nil
}

// contentSecurityPolicy lets the page load its own files and speak to its own server, and nothing else.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	s.handler.ServeHTTP(w, r)
}

// routes returns the handler of all paths. What it does not list is 404, and 405 with another method.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /test", s.test)
	mux.HandleFunc("POST /config", s.configure)
	mux.HandleFunc("GET /state", s.state)
	addAssets(mux)
	// Pages of other sites can make a visitor's browser send a POST here. Programs without a browser are let through.
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeFailure(w, http.StatusForbidden, "this request comes from a page of another site; open the demonstration itself")
	}))
	return guard.Handler(mux)
}
