package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/demo"
	"github.com/weirhq/weir/memstore"
	"github.com/weirhq/weir/redisstore"
)

// demoCmd is weir demo.
type demoCmd struct {
	Host      string `default:"127.0.0.1" help:"Address to listen on (${default}). Off this machine anyone can then change the limit." placeholder:"ADDRESS"`
	Port      int    `default:"8080" help:"Port to listen on; 0 picks a free one."`
	Store     string `xor:"store,host" help:"Keep the bucket in the Redis at this URL, such as ${store}; without, in memory." placeholder:"URL"`
	RedisHost string `xor:"host" help:"The same by host: --redis-host HOST is --store redis://HOST:6379/0." placeholder:"HOST"`
	RedisPort *int   `xor:"store" help:"The same by port, on localhost unless --redis-host is given." placeholder:"PORT"`
}

// Run serves the demonstration until a.ctx ends.
func (c *demoCmd) Run(a *app) error {
	if err := c.validate(); err != nil {
		return usageError{err}
	}
	store, where, err := c.open(a)
	if err != nil {
		return err
	}
	defer store.Close()
	handler, err := demo.New(demo.Options{Store: store})
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.Port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("demo: port %d of %s is taken by another program; choose another port, such as --port %d, or --port 0 for any free one", c.Port, c.Host, c.nextPort())
	case err != nil:
		return fmt.Errorf("demo: cannot listen: %w; choose another --host or --port", err)
	}
	c.greet(a.stdout, listener.Addr().(*net.TCPAddr), where)
	return serveDemo(a, listener, handler)
}

func (c *demoCmd) validate() error {
	_, ipErr := netip.ParseAddr(c.RedisHost)
	switch {
	case c.RedisPort != nil && (*c.RedisPort < 1 || *c.RedisPort > 65535):
		return fmt.Errorf("demo: --redis-port %d is no port; use 1 to 65535", *c.RedisPort)
	case strings.Contains(c.RedisHost, "://"): // not shown, since it may hold a password
		return errors.New("demo: --redis-host is a URL; a URL goes into --store")
	case ipErr != nil && strings.ContainsAny(c.RedisHost, ":/@?#[]"):
		return fmt.Errorf("demo: --redis-host %q is no name or address alone; use --redis-port for the port, or --store for a URL", c.RedisHost)
	case c.Host == "":
		return errors.New("demo: --host is empty, which would be every address of this machine; give one, such as 127.0.0.1, or 0.0.0.0 for every one")
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("demo: --port %d is no port; use 1 to 65535, or 0 for any free one", c.Port)
	}
	return nil
}

// demoStore is what the demonstration keeps its bucket in, and closes.
type demoStore interface {
	weir.Store
	io.Closer
}

// demoTimeout is how long Redis may take: people look on.
const demoTimeout = time.Second

// open returns the store that the flags name, and what to call it.
func (c *demoCmd) open(a *app) (store demoStore, where string, err error) {
	url, from := c.Store, "--store"
	if c.RedisHost != "" || c.RedisPort != nil {
		port := *cmp.Or(c.RedisPort, new(6379))
		url, from = "redis://"+net.JoinHostPort(cmp.Or(c.RedisHost, "localhost"), strconv.Itoa(port))+"/0", "--redis-host, --redis-port"
	}
	if url == "" {
		return memstore.MustNew(memstore.Options{}), "in memory", nil
	}
	log := slog.New(&terse{out: a.stderr}) // says when Redis is away, and when it is back
	redis, err := openStore(a.ctx, url, from, redisstore.Options{Timeout: demoTimeout, Log: log})
	if err != nil {
		return nil, "", fmt.Errorf("demo: %w", err)
	}
	return redis, "in Redis at " + hosts(url) + ", where other processes share it", nil
}

// nextPort returns a port to try when Port is taken.
func (c *demoCmd) nextPort() int {
	if c.Port == 65535 {
		return 8080
	}
	return c.Port + 1
}

// greet says where the demonstration is, once it can be reached there.
func (c *demoCmd) greet(w io.Writer, at *net.TCPAddr, where string) {
	host := at.IP.String()
	if at.IP.IsLoopback() || at.IP.IsUnspecified() {
		host = "localhost"
	}
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(at.Port)) + "/"
	fmt.Fprintf(w, "The token bucket demo runs. Open it in a browser:\n\n    %s\n\nor send it requests from a terminal:\n\n    curl -i -X POST %stest\n\nThe bucket is %s.\nCtrl-C stops it.\n", url, url, where)
}

// demoGrace is how long requests under way may take when the demonstration ends.
const demoGrace = 3 * time.Second

func serveDemo(a *app, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(a.stderr, "weir: demo: ", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("demo: %w", err)
	case <-a.ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), demoGrace)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		server.Close()
	}
	<-failed
	return nil
}
