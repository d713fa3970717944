package demo

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What the page does in a browser. The cases share the browser; each has a server and a tab of its own.
func TestPage(t *testing.T) {
	browser := openBrowser(t)
	for _, tt := range []struct {
		name string
		run  func(*page)
	}{
		{"send until refused", sendUntilRefused},
		{"keyboard", useKeyboard},
		{"change the limit", changeLimit},
		{"refused values", refuseValues},
		{"changes from elsewhere", followServer},
		{"players", playTraffic},
		{"stop a player", stopTraffic},
		{"what players refuse", refuseTraffic},
		{"refill", watchRefill},
		{"model", checkModel},
		{"server gone", loseServer},
		{"store away", loseStore},
		{"fits", fitWidths},
		{"colours", checkContrast},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(openPage(t, browser)) })
	}
}

func sendUntilRefused(p *page) {
	for left := 9; left >= 0; left-- {
		p.click("#send")
		p.waitForText("#result", fmt.Sprintf("Allowed. %d token", left))
	}
	p.waitForMatch("#answer-head", `^200 OK\nRateLimit: "demo";r=0;t=3\d{4}\nRateLimit-Policy: "demo";q=10;w=36000\nCache-Control: no-store\n`)
	p.waitForText("#bucket-count", "0 of 10 tokens")
	p.click("#send")
	p.waitForMatch("#result", `Refused\. Try again in 3\d{3} s\.`)
	p.waitForMatch("#answer-head", `^429 Too Many Requests\nRateLimit: "demo";r=0;t=(3\d{3})\n.*\nRetry-After: \1\n`)
	p.waitForText("#answer-all", `"allowed":false,"remaining":0.00`)
	p.waitForMatch("#announcer", `^Refused\. Try again in 3\d{3} s\.$`)
	p.waitFor("eleven rows", `document.querySelectorAll("#log-rows tr").length === 11`)
	got := evaluate[string](p, `[...document.querySelectorAll("#log-rows tr")].map((r) => r.cells[1].textContent + r.cells[2].textContent).join(" ")`)
	if want := "✕ refused0 ✓ allowed0 ✓ allowed1 ✓ allowed2 ✓ allowed3 ✓ allowed4 ✓ allowed5 ✓ allowed6 ✓ allowed7 ✓ allowed8 ✓ allowed9"; got != want {
		p.t.Errorf("the log reads %q, want %q", got, want)
	}
	p.waitFor("the chart", `document.querySelector("#chart svg").getAttribute("aria-label") === "Chart of the last minute: 10 requests allowed, 1 refused."`)
}

func useKeyboard(p *page) {
	p.do("tab to the button", chromedp.KeyEvent(kb.Tab))
	if got := evaluate[string](p, `document.activeElement.id`); got != "send" {
		p.t.Fatalf("the first tab stop is %q, want send", got)
	}
	if width := evaluate[string](p, `getComputedStyle(document.activeElement).outlineWidth`); width != "3px" {
		p.t.Errorf("the focused button has an outline of %s, want 3px", width)
	}
	p.do("press", chromedp.KeyEvent(kb.Enter))
	p.waitForText("#result", "Allowed. 9 tokens left.")
	nameless := evaluate[[]string](p, `[...document.querySelectorAll("input, button")]
		.filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || (e.tagName === "BUTTON" && e.textContent.trim())))
		.map((e) => e.outerHTML)`)
	if len(nameless) > 0 {
		p.t.Errorf("controls without a name: %q", nameless)
	}
}

func changeLimit(p *page) {
	p.write("#capacity", "4")
	p.waitForText("#words", "Lets bursts of 4 through, then 1 every 60\u00a0min.")
	p.waitForText("#bucket-count", "4 of 4 tokens")
	p.waitFor("four tokens", `document.querySelectorAll("#bucket-picture .token").length === 4`)
	p.waitForText("#code-go", `weir.MustParseLimits("1/h burst 4 stepwise")`)
	p.waitForText("#code-curl", "curl -d capacity=4 -d refill_rate=1 \\\n     -d refill_interval=3600.0 -d refill=stepwise "+p.server.URL+"/config")
	p.click("#controls [value=smooth]")
	p.waitForText("#code-go", `weir.MustParseLimits("1/h burst 4")`)
	p.write("#capacity", "5000")
	p.waitFor("a level instead of tokens", `document.querySelectorAll("#bucket-picture .level").length === 1 && document.querySelectorAll("#bucket-picture .token").length === 0`)
	p.click(".presets button")
	p.waitForText("#words", "Lets bursts of 10 through, then 1 every second.")
	p.waitFor("the form to follow", `["capacity", "refill_rate", "refill_interval"].map((n) => document.getElementById(n).value).join() === "10,1,1.0"`)
}

func refuseValues(p *page) {
	p.write("#refill_rate", "0.5")
	p.waitForText("#refill_rate-error", `refill_rate "0.5" is not a whole number; for a fraction lengthen refill_interval: 1 token per 2.0 seconds instead of 0.5 per 1.0. Still in force: 1.`)
	if invalid := evaluate[string](p, `document.getElementById("refill_rate").getAttribute("aria-invalid")`); invalid != "true" {
		p.t.Errorf("aria-invalid is %q, want true", invalid)
	}
	p.visitor.wantState("after a bad value", "config=map[capacity:10 refill_interval:3600.0 refill_rate:1]")
	p.write("#refill_rate", "2")
	p.waitFor("the error to go", `document.getElementById("refill_rate-error").hidden && document.getElementById("refill_rate").getAttribute("aria-invalid") === "false"`)
	p.waitForText("#words", "then 2 every")
}

func followServer(p *page) {
	p.visitor.configure("capacity=6&refill=smooth")
	p.visitor.take(3)
	p.waitFor("the form to follow", `document.getElementById("capacity").value === "6" && document.querySelector("[value=smooth]").checked`)
	p.waitForText("#bucket-count", "3 of 6 tokens")
}

func playTraffic(p *page) {
	p.click("#burst button")
	p.waitForText("#progress", "Burst (done): 15 of 15 requests sent, 10 allowed, 5 refused.")
	p.waitForText("#announcer", "Burst (done): 15 of 15")
	p.click("#single button")
	p.waitForText("#progress", "Single (done): 1 of 1 request sent, 0 allowed, 1 refused.")
	p.write("#steady [name=rate]", "20")
	p.write("#steady [name=time]", "1")
	p.click("#steady button")
	p.waitForText("#progress", "Steady (done): 20 of 20 requests sent, 0 allowed, 20 refused.")
	p.write("#ramp [name=to]", "40")
	p.write("#ramp [name=time]", "1")
	p.click("#ramp button")
	p.waitForText("#progress", "Ramp (done): 20 of 20 requests sent, 0 allowed, 20 refused.")
	p.visitor.wantState("after 56 requests", "allowed=10", "refused=46")
}

func stopTraffic(p *page) {
	p.write("#steady [name=time]", "60")
	p.click("#steady button")
	p.waitForMatch("#progress", `^Steady: [1-9]\d* of 120 requests sent`)
	p.click("#stop")
	p.waitForText("#progress", "Steady (stopped): ")
	p.waitFor("a button that is off", `document.getElementById("stop").disabled`)
}

func refuseTraffic(p *page) {
	for _, tt := range []struct{ player, field, value, want string }{
		{"burst", "n", "201", "Burst: number of requests must be a whole number from 1 to 200."},
		{"burst", "n", "1.5", "Burst: number of requests must be a whole number from 1 to 200."},
		{"steady", "rate", "201", "Steady: requests per second must be a number from 0.1 to 200."},
		{"steady", "time", "61", "Steady: seconds must be a number from 1 to 60."},
		{"ramp", "to", "x", "Ramp: requests per second at the end must be a number from 0 to 200."},
		{"ramp", "time", "0", "Ramp: seconds must be a number from 1 to 60."},
	} {
		selector := "#" + tt.player + " [name=" + tt.field + "]"
		before := evaluate[string](p, `document.querySelector("`+selector+`").value`)
		p.write(selector, tt.value)
		p.click("#" + tt.player + " button")
		p.waitForText("#progress", tt.want)
		p.write(selector, before)
	}
	p.visitor.wantState("after nothing was played", "allowed=0", "refused=0")
}

// The tokens come back one after another, without dips, and with reduced motion too.
func watchRefill(p *page) {
	p.visitor.configure("capacity=4&refill_interval=0.3")
	evaluate[bool](p, `(() => {
		globalThis.counts = [];
		const look = () => { counts.push(parseInt(document.getElementById("bucket-count").textContent)); };
		new MutationObserver(look).observe(document.getElementById("bucket-count"), { subtree: true, childList: true, characterData: true });
		return true;
	})()`)
	for _, motion := range []string{"no-preference", "reduce"} {
		p.prefer("prefers-reduced-motion", motion)
		p.waitForText("#bucket-next", "The bucket is full.")
		p.click("#burst button")
		p.waitFor("a bucket that empties and fills again", `Math.min(...counts) < 3 && counts.at(-1) === 4`)
		counts := evaluate[[]int](p, `counts.slice(counts.lastIndexOf(Math.min(...counts)))`)
		if !slices.IsSorted(counts) || len(slices.Compact(slices.Clone(counts))) < 3 {
			p.t.Errorf("motion %s: the bucket showed %v tokens; want them to come back one by one up to 4", motion, counts)
		}
		evaluate[bool](p, `(counts.length = 0, true)`)
	}
}

// What the model says between two answers is what the server would say.
func checkModel(p *page) {
	for _, tt := range []struct {
		form    string
		elapsed time.Duration
	}{
		{"refill=stepwise", 0}, {"refill=stepwise", 600 * time.Millisecond},
		{"refill=stepwise&refill_rate=3&refill_interval=0.25", 300 * time.Millisecond},
		{"refill=smooth", 300 * time.Millisecond}, {"refill=smooth&refill_rate=3", 500 * time.Millisecond},
	} {
		before, after := statesApart(p.t, tt.form, tt.elapsed)
		got := evaluate[[3]float64](p, fmt.Sprintf(`import("/model.js").then(({ Model }) => {
			const model = new Model();
			model.adopt(%s, 0);
			const { tokens, untilNext, untilFull } = model.figures(%d);
			return [tokens, untilNext, untilFull];
		})`, before, tt.elapsed.Milliseconds()))
		var want struct {
			Remaining  float64 `json:"remaining"`
			NextRefill float64 `json:"next_refill"`
			FullIn     float64 `json:"full_in"`
		}
		if err := json.Unmarshal([]byte(after), &want); err != nil {
			p.t.Fatalf("GET /state: %v", err)
		}
		const rounding = 2e-6 // the server rounds up to microseconds
		if got[0] != want.Remaining || math.Abs(got[1]-want.NextRefill) > rounding || math.Abs(got[2]-want.FullIn) > rounding {
			p.t.Errorf("%s, %v later: the model says %v, the server %v", tt.form, tt.elapsed, got, want)
		}
	}
}

// statesApart returns two answers of GET /state, elapsed apart, of a bucket under form that was emptied a little
// before.
func statesApart(t *testing.T, form string, elapsed time.Duration) (before, after string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t)
		v.configure(form)
		v.take(10)
		time.Sleep(100 * time.Millisecond)
		before = v.do("GET", "/state", "").Body.String()
		time.Sleep(elapsed)
		after = v.do("GET", "/state", "").Body.String()
	})
	return before, after
}

func loseServer(p *page) {
	p.server.CloseClientConnections()
	evaluate[bool](p, `(globalThis.fetch = () => Promise.reject(new TypeError("gone")), true)`)
	p.waitFor("the banner", `!document.getElementById("offline").hidden`)
	p.click("#send")
	p.waitForText("#result", "No answer from the server.")
	p.click("#burst button")
	p.waitForText("#progress", "Burst (stopped, as the server does not answer)")
}

func loseStore(p *page) {
	p.store.away.Store(true)
	p.waitForText("#troubled", "The figures stand still: the store of the bucket does not answer; the terminal of weir demo may say why. Trying again.")
	p.waitFor("that banner alone", `!document.getElementById("troubled").hidden && document.getElementById("offline").hidden`)
	p.click("#send")
	p.waitForText("#result", "Not decided: the store of the bucket does not answer; nothing was decided, try again.")
	p.click("#burst button")
	p.waitForText("#progress", "Burst (stopped, as the server cannot decide)")
	p.write("#capacity", "4")
	p.waitForText("#capacity-error", "the store of the bucket does not answer; the limit stays as it is, try again. Still in force: 10.")
	p.store.away.Store(false)
	p.waitFor("the banner to go", `document.getElementById("troubled").hidden && document.getElementById("offline").hidden`)
	p.click("#send")
	p.waitForText("#result", "Allowed.")
}

func fitWidths(p *page) {
	p.click("#send")
	p.waitForText("#result", "Allowed")
	for _, width := range []int64{320, 390, 768, 1024, 1280, 1920} {
		p.do("resize", chromedp.EmulateViewport(width, 900))
		if got := evaluate[int64](p, `document.documentElement.scrollWidth`); got > width {
			p.t.Errorf("at %d pixels the page is %d wide", width, got)
		}
	}
}
