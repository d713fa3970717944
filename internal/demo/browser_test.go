package demo

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/memstore"
)

// browserTimeout ends a test whose page hangs.
const browserTimeout = 20 * time.Second

// openBrowser starts Chromium, or skips the test where there is none. CI must have one.
func openBrowser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		const reason = "no Chromium is installed; make test installs it"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // the page is ours, and containers seldom allow the sandbox
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(t.TempDir()),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("closing the browser: %v", err)
		}
		cancel()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	return ctx
}

// page is a tab with the demonstration in it, on a server of its own.
type page struct {
	t       *testing.T
	ctx     context.Context
	server  *httptest.Server
	store   *unsteady
	visitor visitor // who changes things without the page
}

// unsteady is a store that is away at times.
type unsteady struct {
	*memstore.Store
	away atomic.Bool
}

func (s *unsteady) Take(ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	if s.away.Load() {
		return weir.Results{}, errors.New("away on purpose")
	}
	return s.Store.Take(ctx, scope, key, cost)
}

func (s *unsteady) Peek(ctx context.Context, scope *weir.Scope, key string, cost int64) (weir.Results, error) {
	if s.away.Load() {
		return weir.Results{}, errors.New("away on purpose")
	}
	return s.Store.Peek(ctx, scope, key, cost)
}

// openPage opens the demonstration under a limit that nothing comes back from while the test runs, and watches the
// console until the test ends.
func openPage(t *testing.T, browser context.Context) *page {
	t.Helper()
	store := &unsteady{Store: memstore.MustNew(memstore.Options{})}
	t.Cleanup(func() { store.Close() })
	v := newVisitorOf(t, store)
	v.configure("refill_interval=3600")
	server := httptest.NewServer(v.server)
	t.Cleanup(server.Close)
	tab, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel := context.WithTimeout(tab, browserTimeout)
	t.Cleanup(cancel)
	if err := chromedp.Do(tab); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	watchConsole(t, ctx)
	p := &page{t: t, ctx: ctx, server: server, store: store, visitor: v}
	p.do("open the page", chromedp.Navigate(server.URL))
	p.waitFor("the first figures", `document.querySelector("#bucket-count b").textContent === "10 of 10 tokens"`)
	return p
}

// watchConsole fails the test on every message of the console but the browser's notes of answers with 429, 400 and 503.
func watchConsole(t *testing.T, ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	messages := chromedp.Console(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return
			}
			expected := m.Source == "network" && statusNote.MatchString(m.Text)
			if !expected {
				t.Errorf("the console says: %s %s (%s)", m.Type, m.Text, m.URL)
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
}

var statusNote = regexp.MustCompile(`status of (429|400|503)`)

func (p *page) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func (p *page) click(selector string) {
	p.t.Helper()
	p.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// write replaces what an input holds, as a visitor would.
func (p *page) write(selector, text string) {
	p.t.Helper()
	p.do("write into "+selector, chromedp.Evaluate[chromedp.Void](`document.querySelector("`+selector+`").select()`),
		chromedp.SendKeys(chromedp.CSS(selector), text))
}

// waitFor waits until the JavaScript condition holds.
func (p *page) waitFor(what, condition string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool](condition, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
		p.t.Fatalf("waiting for %s: %v; result %q, progress %q", what, err, p.text("#result .text"), p.text("#progress"))
	}
}

// waitForText waits until the element's text contains text.
func (p *page) waitForText(selector, text string) {
	p.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		p.t.Fatal(err)
	}
	p.waitFor(selector+" to say "+text, `document.querySelector("`+selector+`").textContent.includes(`+string(quoted)+`)`)
}

// waitForMatch waits until the element's text matches the JavaScript regular expression.
func (p *page) waitForMatch(selector, expression string) {
	p.t.Helper()
	p.waitFor(selector+" to match "+expression, `/`+expression+`/.test(document.querySelector("`+selector+`").textContent)`)
}

func (p *page) text(selector string) string {
	p.t.Helper()
	return evaluate[string](p, `document.querySelector("`+selector+`").textContent`)
}

func evaluate[T any](p *page, expression string) T {
	p.t.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

func (p *page) prefer(feature, value string) {
	p.t.Helper()
	features := []*emulation.MediaFeature{{Name: feature, Value: value}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		p.t.Fatalf("prefer %s: %v", value, err)
	}
}
