package demo

// Text is readable in both schemes: a contrast of at least 4.5 (WCAG 2, AA).
func checkContrast(p *page) {
	p.click("#burst button")
	p.waitForText("#progress", "(done)")
	p.write("#capacity", "x")
	p.waitForText("#capacity-error", "Still in force")
	for _, scheme := range []string{"light", "dark"} {
		p.prefer("prefers-color-scheme", scheme)
		for _, text := range evaluate[[]string](p, contrastScript) {
			p.t.Errorf("%s scheme: %s", scheme, text)
		}
	}
}

// contrastScript lists the elements with text of their own whose contrast is too low.
const contrastScript = `(() => {
	const parse = (c) => c.match(/[\d.]+/g).map(Number);
	const light = (c) => { const [r, g, b] = parse(c).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = (e) => { for (; e; e = e.parentElement) {
		const c = getComputedStyle(e).backgroundColor; if (parse(c)[3] !== 0) return c; } return "rgb(255,255,255)"; };
	const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
	return [...document.querySelectorAll("body *:not(noscript *, svg *)")].filter((e) => own(e) && e.checkVisibility() && !e.disabled).flatMap((e) => {
		const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		return ratio < 4.5 ? [e.tagName + " " + e.textContent.trim().slice(0, 40) + ": " + ratio.toFixed(2)] : [];
	});
})()`
