package proxy

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestEventsArriveOneByOne(t *testing.T) {
	for _, contentType := range []string{"text/event-stream", "application/x-ndjson"} {
		t.Run(contentType, func(t *testing.T) {
			seen := make(chan struct{})
			g := serveTo(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType)
				for i := range 3 {
					fmt.Fprintf(w, "data: %d\n", i)
					http.NewResponseController(w).Flush()
					<-seen // the next event is sent when the client has this one
				}
			}, Options{Limits: limits("100/h")})
			res, err := g.client.Get(g.url)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			lines := bufio.NewReader(res.Body)
			for i := range 3 {
				line, err := lines.ReadString('\n')
				if want := fmt.Sprintf("data: %d\n", i); err != nil || line != want {
					t.Fatalf("event %d: %q, %v; want %q", i, line, err, want)
				}
				seen <- struct{}{}
			}
		})
	}
}

// upgrading answers an upgrade and then echoes lines in capitals until the client stops.
func upgrading(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "websocket" {
		w.WriteHeader(http.StatusUpgradeRequired)
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: yes\r\n\r\n")
	for {
		line, err := rw.ReadString('\n')
		if err != nil {
			return
		}
		io.WriteString(conn, strings.ToUpper(line))
	}
}

const upgrade = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

// exchange sends a line over an upgraded connection and reads the answer.
func exchange(t *testing.T, conn net.Conn, answers *bufio.Reader, line string) {
	t.Helper()
	io.WriteString(conn, line+"\n")
	got, err := answers.ReadString('\n')
	if want := strings.ToUpper(line) + "\n"; err != nil || got != want {
		t.Fatalf("over the upgraded connection: %q, %v; want %q", got, err, want)
	}
}

func TestUpgradedConnectionsCarryBothWays(t *testing.T) {
	log := &lockedBuffer{}
	g := serveTo(t, upgrading, Options{Limits: limits("1/h"), AccessLog: log})
	conn, answers := g.dial(upgrade)
	head := readHead(t, answers)
	if !strings.HasPrefix(head, "HTTP/1.1 101") || !strings.Contains(head, "Sec-Websocket-Accept: yes") || !strings.Contains(head, "Ratelimit:") {
		t.Fatalf("the answer is %q, want 101 with what upstream and limits say", head)
	}
	for i := range 100 {
		exchange(t, conn, answers, fmt.Sprintf("message %d", i))
	}
	if got := g.proxy.Counts().Active; got != 1 {
		t.Errorf("Active = %d while a connection is upgraded, want 1", got)
	}
	conn.Close()
	eventually(t, "the upgrade is logged", func() bool { return strings.Contains(log.String(), `"GET /chat HTTP/1.1" 101 - `) })

	_, answers = g.dial(upgrade)
	if head := readHead(t, answers); !strings.HasPrefix(head, "HTTP/1.1 429") {
		t.Errorf("the second upgrade: %q, want 429: an upgrade is a request", head)
	}
}

func TestLargeBodiesPassBothWays(t *testing.T) {
	const size = 64 << 20
	random := func(seed byte) io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{seed}), size) }
	sum := func(r io.Reader) string {
		h := sha256.New()
		n, err := io.Copy(h, r)
		return fmt.Sprintf("%d %v %s", n, err, hex.EncodeToString(h.Sum(nil)))
	}
	got := make(chan string, 1)
	g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
		got <- sum(r.Body)
		w.Header().Set("Content-Length", fmt.Sprint(size))
		io.Copy(w, random(2))
	}, Options{Limits: limits("100/h")})
	r, _ := http.NewRequest("POST", g.url, random(1))
	r.ContentLength = size
	res, err := g.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, want := <-got, sum(random(1)); got != want {
		t.Errorf("the upstream got %s, want %s", got, want)
	}
	if got, want := sum(res.Body), sum(random(2)); got != want {
		t.Errorf("the client got %s, want %s", got, want)
	}
}

func TestClientDisconnectReachesTheUpstream(t *testing.T) {
	log := &lockedBuffer{}
	began, ended := make(chan struct{}), make(chan struct{})
	g := serveTo(t, func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	}, Options{Limits: limits("100/h"), AccessLog: log})
	conn, _ := g.dial("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
	received(t, "the request reaches the upstream", began)
	conn.Close()
	received(t, "the upstream hears that the client left", ended)
	eventually(t, "status 499 is logged", func() bool { return strings.Contains(log.String(), `"GET /slow HTTP/1.1" 499 - `) })
	if c := g.proxy.Counts(); c.UpstreamErrors != 0 || c.Allowed != 1 {
		t.Errorf("Counts() = %+v, want no upstream error", c)
	}
}

func TestUpstreamDownIs502(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close() // nobody listens there now
	g := serve(t, "http://"+ln.Addr().String(), Options{Limits: limits("2/h")})
	for range 2 {
		res := g.get("/")
		if res.StatusCode != http.StatusBadGateway || res.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("status %d, Content-Type %q; want 502 and problem+json", res.StatusCode, res.Header.Get("Content-Type"))
		}
		if got := res.Header.Get("Retry-After"); got != "" {
			t.Errorf("Retry-After is %q, want none: nobody knows", got)
		}
		if got, want := bodyOf(res), `{"title":"Bad Gateway","status":502,"detail":"The upstream gave no answer."}`+"\n"; got != want {
			t.Errorf("body %q, want %q", got, want)
		}
	}
	if got := g.get("/").StatusCode; got != http.StatusTooManyRequests {
		t.Errorf("status %d after the limit, want 429: what failed stays charged", got)
	}
	if c := g.proxy.Counts(); c.UpstreamErrors != 2 || c.Allowed != 2 || c.Refused != 1 {
		t.Errorf("Counts() = %+v, want 2 allowed, 2 upstream errors, 1 refused", c)
	}
	if got := strings.Count(g.logs.String(), "no answer from the upstream"); got != 1 {
		t.Errorf("%d errors are logged within a second, want 1:\n%s", got, g.logs)
	}
}

func TestHalfAnAnswerIsNoAnswer(t *testing.T) {
	for _, header := range []string{"Content-Length", "Transfer-Encoding"} {
		t.Run(header, func(t *testing.T) {
			g := serveTo(t, func(w http.ResponseWriter, _ *http.Request) {
				if header == "Content-Length" {
					w.Header().Set("Content-Length", "1000")
				}
				io.WriteString(w, "half")
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}, Options{Limits: limits("100/h")})
			res, err := g.client.Get(g.url)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				res.Body.Close()
			}
			if err == nil {
				t.Error("the client took half an answer for a whole one")
			}
			eventually(t, "the upstream error is counted", func() bool { return g.proxy.Counts().UpstreamErrors == 1 })
		})
	}
}

func TestUpstreamRefusesAmidTheBody(t *testing.T) {
	g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
		io.CopyN(io.Discard, r.Body, 1000)
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		io.WriteString(w, "too large")
	}, Options{Limits: limits("100/h")})
	conn, answer := g.dial("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
	conn.Write(make([]byte, 2000)) // and no more: the answer comes before the body is whole
	res, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusRequestEntityTooLarge || string(body) != "too large" {
		t.Errorf("status %d, body %q; want the upstream's 413", res.StatusCode, body)
	}
	if c := g.proxy.Counts(); c.UpstreamErrors != 0 {
		t.Errorf("Counts() = %+v, want no upstream error", c)
	}
}

func TestBrokenBodyIsTheClientsFault(t *testing.T) {
	g := serveTo(t, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }, Options{Limits: limits("100/h")})
	_, answer := g.dial("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nnonsense\r\n")
	res, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d for a malformed body, want 400", res.StatusCode)
	}
	if c := g.proxy.Counts(); c.UpstreamErrors != 0 {
		t.Errorf("Counts() = %+v, want no upstream error", c)
	}
}

func TestRefusedUploadIsNotRead(t *testing.T) {
	g := serveTo(t, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }, Options{Limits: limits("1/h")})
	g.get("/")
	for _, header := range []string{"Expect: 100-continue\r\n", ""} {
		for _, size := range []int{1000, 1000000000} {
			_, answer := g.dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n%s\r\n", size, header))
			if head := readHead(t, answer); !strings.HasPrefix(head, "HTTP/1.1 429") {
				t.Errorf("a body of %d bytes, %q: the answer is %q, want 429 and no invitation to send", size, header, head)
			}
		}
	}
}

func TestUpgradeThatTheUpstreamDeclines(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer upstream.Close()
	g := serve(t, upstream.URL, Options{})
	_, answer := g.dial(upgrade)
	if head := readHead(t, answer); !strings.HasPrefix(head, "HTTP/1.1 403") {
		t.Errorf("the answer is %q, want the upstream's 403", head)
	}
}

func TestLargeStreamIsFlushedWithoutLoss(t *testing.T) {
	const n = 20000
	g := serveTo(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range n { // no Content-Length: chunked
			fmt.Fprintf(w, "%08d\n", i)
		}
	}, Options{})
	body := bodyOf(g.get("/"))
	if len(body) != 9*n || !strings.HasSuffix(body, fmt.Sprintf("%08d\n", n-1)) {
		t.Errorf("%d bytes arrived, want %d", len(body), 9*n)
	}
}

func TestBothDirectionsAtOnce(t *testing.T) {
	g := serveTo(t, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		control.EnableFullDuplex()
		control.Flush()
		lines := bufio.NewReader(r.Body)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			io.WriteString(w, strings.ToUpper(line))
			control.Flush()
		}
	}, Options{Limits: limits("100/h")})
	in, out := io.Pipe()
	r, _ := http.NewRequest("POST", g.url, in)
	res, err := g.client.Do(r) // returns before the body has ended
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answers := bufio.NewReader(res.Body)
	for i := range 50 {
		fmt.Fprintf(out, "line %d\n", i)
		got, err := answers.ReadString('\n')
		if want := fmt.Sprintf("LINE %d\n", i); err != nil || got != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	}
	out.Close()
	if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
		t.Errorf("after the body's end: %q, %v; want the end of the answer", rest, err)
	}
}

func TestUpgradeToHTTP2IsNotOffered(t *testing.T) {
	got := make(chan http.Header, 1)
	g := serveTo(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }, Options{Limits: limits("1/h")})
	_, answer := g.dial("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: H2C\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n")
	if head := readHead(t, answer); !strings.HasPrefix(head, "HTTP/1.1 200") {
		t.Errorf("the answer is %q, want 200", head)
	}
	if h := <-got; h.Get("Upgrade") != "" || h.Get("Connection") != "" || h.Get("HTTP2-Settings") != "" {
		t.Errorf("the upstream was offered HTTP/2, past the limits: %v", h)
	}
}
