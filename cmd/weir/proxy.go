package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/httplimit"
	"github.com/weirhq/weir/internal/proxy"
)

// proxyCmd is weir proxy.
type proxyCmd struct {
	To          string   `required:"" placeholder:"URL" help:"The server to limit, such as http://localhost:3000."`
	Limit       []string `sep:"none" placeholder:"LIMIT" help:"A limit, such as '10/s burst 20' or '1000/h'. Repeat it for several, which are then decided together. Without one, everything is forwarded."`
	Key         string   `default:"ip" help:"Whom to count for: ip, global, header:NAME or cookie:NAME. Requests without the header or cookie are counted by address."`
	TrustProxy  []string `placeholder:"CIDR" help:"The address, or addresses, of a proxy in front, whose X-Forwarded-For is believed. Repeat it for several."`
	TrustHeader string   `placeholder:"NAME" help:"The header in which trusted proxies name the client, instead of X-Forwarded-For."`
	Listen      string   `default:":8080" placeholder:"ADDRESS" help:"Where to listen (${default})."`
	Host        string   `enum:"auto,client,upstream" default:"auto" help:"The Host header that the server gets: the client's, or the one of --to. auto is the client's for http and that of --to for https."`
	Shadow      bool     `help:"Refuse nothing; count what would have been refused."`
	AccessLog   bool     `help:"Write a line per request to standard output."`
	MaxKeys     int      `xor:"state" placeholder:"N" help:"How many keys to remember at most; by default 16777216, which take up to 700 MB."`
	sharedFlags
	Drain time.Duration `default:"15s" help:"How long requests, streams and WebSockets may go on after SIGTERM (${default})."`
}

// Run proxies until the process is told to stop.
func (c *proxyCmd) Run(a *app) error {
	screen := newScreen(a.stderr)
	opts, err := c.options(a, screen)
	if err != nil {
		return usageError{fmt.Errorf("proxy: %w; see weir proxy --help", err)}
	}
	store, err := c.open(opts.Logger)
	if err != nil {
		return usageError{fmt.Errorf("proxy: %w; see weir proxy --help", err)}
	}
	if store != nil {
		opts.Store = store
		defer store.Close()
	}
	p, err := proxy.New(opts)
	if err != nil {
		return usageError{fmt.Errorf("%w; see weir proxy --help", flagged(err))}
	}
	ln, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", c.Listen)
	if err != nil {
		p.Close()
		return c.listenError(err)
	}
	c.announce(screen, opts, ln.Addr())
	if store != nil {
		defer look(a.ctx, store, opts.Logger)()
	}
	err = c.serve(a, screen, p, ln)
	return errors.Join(err, p.Close())
}

// serve runs p until it has drained, and tells what happens meanwhile.
func (c *proxyCmd) serve(a *app, screen *screen, p *proxy.Proxy, ln net.Listener) error {
	watching, stop := context.WithCancel(a.ctx)
	defer stop()
	watched := watch(watching, screen, p, summary{Shadow: c.Shadow, Unlimited: len(c.Limit) == 0, Shared: c.Store != ""})
	told := make(chan struct{})
	context.AfterFunc(watching, func() {
		defer close(told)
		<-watched
		if n := p.Counts().Active; n > 0 && a.ctx.Err() != nil {
			fmt.Fprintf(screen, "stopping: waiting up to %s for %d under way; interrupt again to stop now\n", c.Drain, n)
		}
	})
	err := p.Serve(a.ctx, ln)
	stop()
	<-told
	fmt.Fprintln(screen, c.farewell(p.Counts()))
	return err
}

// options reads the flags.
func (c *proxyCmd) options(a *app, screen *screen) (proxy.Options, error) {
	opts := proxy.Options{Key: c.Key, MaxKeys: c.MaxKeys, Shadow: c.Shadow, TrustHeader: c.TrustHeader, Logger: slog.New(&terse{out: screen})}
	var err error
	if opts.Upstream, err = url.Parse(c.To); err != nil {
		return opts, fmt.Errorf("--to: %q is no URL; give one such as http://localhost:3000", c.To)
	}
	if err = c.checkLoop(opts.Upstream); err != nil {
		return opts, err
	}
	if opts.Limits, err = weir.ParseLimits(c.Limit...); err != nil {
		return opts, fmt.Errorf("--limit: %w", err)
	}
	for _, text := range c.TrustProxy {
		prefix, err := parsePrefix(text)
		if err != nil {
			return opts, fmt.Errorf("--trust-proxy: %q is neither an address nor a prefix; write it such as 10.0.0.0/8 or 192.0.2.1", text)
		}
		opts.TrustedProxies = append(opts.TrustedProxies, prefix)
	}
	switch {
	case c.Drain < 0:
		return opts, fmt.Errorf("--drain: %s is negative; use 0 to cut at once", c.Drain)
	case c.Drain == 0:
		opts.Drain = -1
	default:
		opts.Drain = c.Drain
	}
	opts.Host = map[string]proxy.Host{"auto": proxy.HostAuto, "client": proxy.HostClient, "upstream": proxy.HostUpstream}[c.Host]
	if c.AccessLog {
		opts.AccessLog = screen.through(a.stdout)
	}
	return opts, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// checkLoop refuses an upstream on this machine with the port that the proxy listens on: it would call itself.
func (c *proxyCmd) checkLoop(upstream *url.URL) error {
	host, port, err := net.SplitHostPort(c.Listen)
	target := upstream.Port()
	if target == "" {
		target = map[string]string{"http": "80", "https": "443"}[upstream.Scheme]
	}
	if err != nil || port == "0" || port != target || !isLocal(upstream.Hostname()) || host != "" && !isLocal(host) {
		return nil
	}
	return fmt.Errorf("--listen: %s is where --to goes; choose another port", c.Listen)
}

func isLocal(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (a.IsLoopback() || a.IsUnspecified())
}

// listenError says what to do about an address that cannot be listened on.
func (c *proxyCmd) listenError(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("proxy: --listen: something else listens on %s already; choose another address, such as --listen :8081", c.Listen)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("proxy: --listen: not permitted on %s; choose a port above 1023, such as --listen :8080", c.Listen)
	}
	return usageError{fmt.Errorf("proxy: --listen: cannot listen on %q: %w", c.Listen, err)}
}

// flags are the flags behind the options of a proxy.
var flags = map[string]string{"Upstream": "--to", "Key": "--key", "MaxKeys": "--max-keys", "TrustHeader": "--trust-header"}

// flagged names flags where err names options.
func flagged(err error) error {
	if bad := (*proxy.OptionError)(nil); errors.As(err, &bad) && flags[bad.Field] != "" {
		return fmt.Errorf("proxy: %s %s; %s", flags[bad.Field], bad.Problem, bad.Remedy)
	}
	if bad := (*httplimit.ConfigError)(nil); errors.As(err, &bad) {
		flag := "--key"
		switch {
		case strings.Contains(bad.Field, "Trusted"):
			flag = "--trust-proxy"
		case strings.HasSuffix(bad.Field, ".Header"):
			flag = "--trust-header"
		}
		return fmt.Errorf("proxy: %s %s; %s", flag, bad.Problem, bad.Remedy)
	}
	if errors.Is(err, weir.ErrInvalidOptions) {
		return fmt.Errorf("proxy: --limit: %w", errors.Unwrap(err))
	}
	return err
}

// announce says what runs and how to try it.
func (c *proxyCmd) announce(w io.Writer, opts proxy.Options, addr net.Addr) {
	var b strings.Builder
	fmt.Fprintf(&b, "weir %s: proxy\n", Version)
	fmt.Fprintf(&b, "  listens on  %s\n", addr)
	fmt.Fprintf(&b, "  forwards to %s\n", opts.Upstream.Redacted())
	for _, l := range opts.Limits {
		fmt.Fprintf(&b, "  limit       %s\n", l)
	}
	switch {
	case len(opts.Limits) == 0:
		b.WriteString("  limit       none: everything is forwarded; add one such as --limit '10/s burst 20'\n")
	case c.Shadow:
		fmt.Fprintf(&b, "  key         %s\n  shadow      nothing is refused, only counted\n", c.keyText())
	default:
		fmt.Fprintf(&b, "  key         %s\n", c.keyText())
	}
	if c.Store != "" {
		fmt.Fprintf(&b, "  state       in Redis at %s; while it is away: %s\n", hosts(c.Store), c.Outage)
	}
	fmt.Fprintf(&b, "  try it      curl -i %s\n", tryURL(addr))
	io.WriteString(w, b.String())
}

func (c *proxyCmd) keyText() string {
	switch {
	case c.Key != "ip":
		return c.Key
	case len(c.TrustProxy) == 0:
		return "ip: the address that connects"
	case c.TrustHeader == "":
		return "ip: by X-Forwarded-For from " + strings.Join(c.TrustProxy, ", ")
	}
	return "ip: by " + c.TrustHeader + " from " + strings.Join(c.TrustProxy, ", ")
}

// tryURL returns a URL at which this machine reaches addr.
func tryURL(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if a, bad := netip.ParseAddr(host); err != nil || bad != nil || a.IsUnspecified() || a.IsLoopback() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

func (c *proxyCmd) farewell(n proxy.Counts) string {
	refused := "refused"
	if c.Shadow {
		refused = "would have refused"
	}
	text := fmt.Sprintf("stopped: allowed %d, %s %d, upstream errors %d", n.Allowed, refused, n.Refused, n.UpstreamErrors)
	if n.LostLines > 0 {
		text += fmt.Sprintf(", log lines lost %d", n.LostLines)
	}
	return text
}

// watch writes the summary each second while a terminal shows it. The channel is closed when it has stopped.
func watch(ctx context.Context, screen *screen, p *proxy.Proxy, sum summary) <-chan struct{} {
	done := make(chan struct{})
	if !screen.terminal {
		close(done)
		return done
	}
	sum.start(time.Now(), p.Counts())
	go func() {
		defer close(done)
		defer screen.show("")
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				screen.show(sum.line(now, p.Counts()))
			case <-ctx.Done():
				return
			}
		}
	}()
	return done
}
