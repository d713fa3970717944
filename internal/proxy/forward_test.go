package proxy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestWhatTheUpstreamIsTold(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	for _, c := range []struct {
		name string
		opts Options
		send []string
		want map[string]string // "" for absent
	}{
		{"nothing said", Options{}, nil,
			map[string]string{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "shop.example", "Forwarded": ""}},
		{"forged", Options{},
			[]string{"X-Forwarded-For", "203.0.113.1", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "evil.example", "Forwarded", "for=203.0.113.1"},
			map[string]string{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "shop.example", "Forwarded": ""}},
		{"by a trusted proxy", Options{TrustedProxies: trusted},
			[]string{"X-Forwarded-For", "203.0.113.1", "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "www.example", "Forwarded", "for=203.0.113.1"},
			map[string]string{"X-Forwarded-For": "203.0.113.1, 192.0.2.1, 127.0.0.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "www.example", "Forwarded": "for=203.0.113.1, for=127.0.0.1"}},
		{"a trusted proxy that says little", Options{TrustedProxies: trusted}, nil,
			map[string]string{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "shop.example", "Forwarded": ""}},
		{"forged with underscores", Options{},
			[]string{"X_Forwarded_For", "203.0.113.1", "X-FORWARDED_proto", "https", "X_Other", "stays"},
			map[string]string{"X_forwarded_for": "", "X-Forwarded_proto": "", "X_other": "stays", "X-Forwarded-For": "127.0.0.1"}},
		{"the header of trust, from a stranger", Options{TrustHeader: "X-Real-IP", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}},
			[]string{"X-Real-IP", "203.0.113.1"}, map[string]string{"X-Real-IP": "", "X-Forwarded-For": "127.0.0.1"}},
		{"the header of trust, from a proxy", Options{TrustHeader: "X-Real-IP", TrustedProxies: trusted},
			[]string{"X-Real-IP", "203.0.113.1"}, map[string]string{"X-Real-IP": "203.0.113.1", "X-Forwarded-For": "127.0.0.1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make(chan http.Header, 1)
			g := serveTo(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }, c.opts)
			r, _ := http.NewRequest("GET", g.url, nil)
			r.Host = "shop.example"
			for i := 0; i < len(c.send); i += 2 {
				r.Header.Add(c.send[i], c.send[i+1])
			}
			g.do(r)
			h := <-got
			for name, want := range c.want {
				if got := strings.Join(h[http.CanonicalHeaderKey(name)], " | "); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestHostAndURL(t *testing.T) {
	for _, c := range []struct {
		name, base string
		host       Host
		target     string
		want       string // host and request target at the upstream; UP for its own name
	}{
		{"client's host", "", HostAuto, "/a", "shop.example /a"},
		{"upstream's host", "", HostUpstream, "/a", "UP /a"},
		{"query that net/url would not read", "", HostAuto, "/a?x=1;y=%zz&&b", "shop.example /a?x=1;y=%zz&&b"},
		{"escapes", "", HostAuto, "/a%2Fb//c/./d%20e", "shop.example /a%2Fb//c/./d%20e"},
		{"base path", "/api", HostClient, "/a%2Fb?q=;", "shop.example /api/a%2Fb?q=;"},
		{"empty query", "/", HostClient, "/?", "shop.example /?"},
		{"another proxy's form", "", HostClient, "http://other.example/a", "other.example /a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make(chan string, 1)
			upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Host + " " + r.RequestURI }))
			defer upstream.Close()
			g := serve(t, upstream.URL+c.base, Options{Host: c.host})
			_, answer := g.dial("GET " + c.target + " HTTP/1.1\r\nHost: shop.example\r\n\r\n")
			if _, err := http.ReadResponse(answer, nil); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(c.want, "UP", strings.TrimPrefix(upstream.URL, "http://"), 1)
			if got := <-got; got != want {
				t.Errorf("the upstream saw %q, want %q", got, want)
			}
		})
	}
}

func TestMethods(t *testing.T) {
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Saw", r.Method+" "+r.RequestURI)
	}))
	upstream.Config.DisableGeneralOptionsHandler = true
	upstream.Start()
	defer upstream.Close()
	plain := serve(t, upstream.URL, Options{Limits: limits("100/h")})
	based := serve(t, upstream.URL+"/base", Options{Limits: limits("100/h")})
	for _, c := range []struct {
		g                 *rig
		line, saw, status string
	}{
		{plain, "OPTIONS * HTTP/1.1", "OPTIONS *", "200"},
		{plain, "PURGE /x HTTP/1.1", "PURGE /x", "200"},
		{plain, "CONNECT example.com:443 HTTP/1.1", "", "501"},
		{plain, "GET /a/../b HTTP/1.1", "GET /a/../b", "200"},
		{plain, "GET x:admin HTTP/1.1", "", "400"},
		{based, "OPTIONS * HTTP/1.1", "OPTIONS *", "200"},
		{based, "GET /a..b HTTP/1.1", "GET /base/a..b", "200"},
		{based, "GET x:http://up/admin HTTP/1.1", "", "400"},
		{based, "GET /../admin HTTP/1.1", "", "400"},
		{based, "GET /%2e%2e/admin HTTP/1.1", "", "400"},
	} {
		_, answer := c.g.dial(c.line + "\r\nHost: a\r\nConnection: close\r\n\r\n")
		res, err := http.ReadResponse(answer, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.line, err)
		}
		if got := fmt.Sprint(res.StatusCode); got != c.status || res.Header.Get("X-Saw") != c.saw {
			t.Errorf("%s: status %s, upstream saw %q; want %s and %q", c.line, got, res.Header.Get("X-Saw"), c.status, c.saw)
		}
	}
}

func TestResponsesWithoutBody(t *testing.T) {
	g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		case "/304":
			w.Header().Set("ETag", `"x"`)
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("Content-Length", "12345")
		}
	}, Options{Limits: limits("100/h")})
	r, _ := http.NewRequest(http.MethodHead, g.url+"/head", nil)
	if res := g.do(r); res.StatusCode != 200 || res.ContentLength != 12345 {
		t.Errorf("HEAD: status %d, length %d; want 200 and 12345", res.StatusCode, res.ContentLength)
	}
	if res := g.get("/204"); res.StatusCode != 204 || bodyOf(res) != "" {
		t.Errorf("204: status %d", res.StatusCode)
	}
	if res := g.get("/304"); res.StatusCode != 304 || res.Header.Get("ETag") != `"x"` {
		t.Errorf("304: status %d, header %v", res.StatusCode, res.Header)
	}
}

func TestResponseHeaderIsUntouched(t *testing.T) {
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	go func() { // one response without Content-Type and Date
		conn, err := upstream.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.Read(make([]byte, 4096))
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 6\r\n\r\n<html>")
		conn.Read(make([]byte, 1)) // until the proxy closes
	}()
	g := serve(t, "http://"+upstream.Addr().String(), Options{})
	res := g.get("/")
	if got, guessed := res.Header["Content-Type"]; guessed {
		t.Errorf("Content-Type was made up: %q", got)
	}
	if got := res.Header["Set-Cookie"]; len(got) != 2 {
		t.Errorf("Set-Cookie is %q, want both lines", got)
	}
}

func TestCompressionIsUntouched(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, strings.Repeat("weir ", 1000))
	z.Close()
	g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accept-Encoding", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(zipped.Bytes())
	}, Options{})
	res := g.get("/")
	if got := res.Header.Get("X-Accept-Encoding"); got != "" {
		t.Errorf("the upstream was asked for %q, the client asked for nothing", got)
	}
	if bodyOf(res) != zipped.String() || res.Header.Get("Content-Encoding") != "gzip" {
		t.Error("the compressed body changed")
	}
}

func TestLimitFieldsSurviveInformationalResponses(t *testing.T) {
	g := serveTo(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		io.WriteString(w, "hello")
	}, Options{Limits: limits("100/h")})
	_, answer := g.dial("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	hints := readHead(t, answer)
	if !strings.HasPrefix(hints, "HTTP/1.1 103") || !strings.Contains(hints, "Link: </a.css>") || strings.Contains(hints, "Ratelimit") {
		t.Errorf("the hints are %q, want 103 with the Link alone", hints)
	}
	if final := readHead(t, answer); !strings.HasPrefix(final, "HTTP/1.1 200") || strings.Count(final, "Ratelimit:") != 1 {
		t.Errorf("the response is %q, want 200 with RateLimit", final)
	}
}

// readHead reads up to the empty line.
func readHead(t *testing.T, r io.Reader) string {
	t.Helper()
	var b strings.Builder
	one := make([]byte, 1)
	for !strings.HasSuffix(b.String(), "\r\n\r\n") {
		if _, err := r.Read(one); err != nil {
			t.Fatalf("after %q: %v", b.String(), err)
		}
		b.Write(one)
	}
	return b.String()
}

func TestHTTPSUpstream(t *testing.T) {
	got := make(chan string, 1)
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Host }))
	defer upstream.Close()
	g := serve(t, upstream.URL, Options{})
	g.proxy.forward.transport.TLSClientConfig.RootCAs = upstream.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	if res := g.get("/"); res.StatusCode != 200 {
		t.Fatalf("status %d: %s", res.StatusCode, g.logs)
	}
	if host := <-got; "https://"+host != upstream.URL {
		t.Errorf("Host is %q, want the upstream's own for https", host)
	}
}

func TestCertificateIsChecked(t *testing.T) {
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	upstream.Config.ErrorLog = log.New(io.Discard, "", 0)
	upstream.StartTLS()
	defer upstream.Close()
	g := serve(t, upstream.URL, Options{})
	if res := g.get("/"); res.StatusCode != http.StatusBadGateway {
		t.Errorf("status %d for a certificate that nobody signed, want 502", res.StatusCode)
	}
}

// TestTrailersDoNotTellWhoTheClientIs: neither an announced trailer nor one that comes beside it.
func TestTrailersDoNotTellWhoTheClientIs(t *testing.T) {
	got := make(chan http.Header, 1)
	g := serveTo(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		got <- r.Trailer
	}, Options{})
	_, answer := g.dial("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, X-Forwarded-For\r\n\r\n" +
		"2\r\nhi\r\n0\r\nX-Sum: 1\r\nX-Forwarded-For: 9.9.9.9\r\nForwarded: for=9.9.9.9\r\nX_Forwarded_For: 9.9.9.9\r\n\r\n")
	if _, err := http.ReadResponse(answer, nil); err != nil {
		t.Fatal(err)
	}
	if trailer := received(t, "the request", got); len(trailer) != 1 || trailer.Get("X-Sum") != "1" {
		t.Errorf("the upstream got the trailers %v, want X-Sum alone", trailer)
	}
}

func TestTrailersPassBothWays(t *testing.T) {
	g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Announced")
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "body")
		w.Header().Set("X-Announced", r.Trailer.Get("X-Sum"))
		w.Header().Set(http.TrailerPrefix+"X-Late", "late")
	}, Options{Limits: limits("100/h")})
	r, _ := http.NewRequest("POST", g.url, io.NopCloser(strings.NewReader("some body"))) // of unknown length: chunked
	r.Trailer = http.Header{"X-Sum": {"42"}}
	res := g.do(r)
	if got := res.Trailer.Get("X-Announced"); got != "42" {
		t.Errorf("the trailers are %v, want X-Announced: 42, which the request's trailer held", res.Trailer)
	}
	if got := res.Trailer.Get("X-Late"); got != "late" {
		t.Errorf("the trailers are %v, want X-Late: late too", res.Trailer)
	}
}

func TestExpectContinueAsksTheUpstream(t *testing.T) {
	g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}, Options{Limits: limits("100/h")})
	_, answer := g.dial("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n")
	if head := readHead(t, answer); !strings.HasPrefix(head, "HTTP/1.1 413") {
		t.Errorf("the answer is %q, want 413 and no 100 before it", head)
	}
}

func TestProxyEnvironmentIsIgnored(t *testing.T) {
	p, err := New(Options{Upstream: &url.URL{Scheme: "http", Host: "upstream.example"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.forward.transport.Proxy != nil {
		t.Error("the transport asks the environment for a proxy")
	}
}
