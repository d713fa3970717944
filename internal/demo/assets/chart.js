// What the server allowed and refused in each of the last sixty seconds, from whomever it came.

import { svg, setText } from "/dom.js";
import { count } from "/words.js";

const HEIGHT = 100, BAR = 10;

export class Chart {
  #bars = []; // {allowed, refused, shown}
  #rate; #scale; #figure; #rateText;

  constructor(place, seconds) {
    const width = seconds * BAR;
    this.#figure = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    const hatch = svg("pattern", { id: "hatch", width: 4, height: 4, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("defs", {}, this.#figure));
    svg("rect", { class: "hatch-ground", width: 4, height: 4 }, hatch);
    svg("rect", { class: "hatch-line", width: 1.6, height: 4 }, hatch);
    for (const y of [0.5, HEIGHT / 2, HEIGHT - 0.5]) {
      svg("path", { class: "grid", d: `M0 ${y}H${width}` }, this.#figure);
    }
    for (let i = 0; i < seconds; i++) {
      const box = { x: i * BAR + 1, width: BAR - 2, y: HEIGHT, height: 0 };
      this.#bars.push({
        allowed: svg("rect", { class: "allowed", ...box }, this.#figure),
        refused: svg("rect", { class: "refused", ...box }, this.#figure),
        shown: "",
      });
    }
    this.#rate = svg("path", { class: "rate" }, this.#figure);
    this.#scale = element("p", "scale");
    this.#rateText = element("span", "key rate", "rate that the refill sustains");
    const legend = element("p", "legend");
    legend.append(element("span", "key allowed", "allowed"), element("span", "key refused", "refused"), this.#rateText);
    const ends = element("p", "ends");
    ends.append(element("span", "", "60 s ago"), element("span", "", "now"));
    place.append(this.#scale, this.#figure, ends, legend);
  }

  draw({ seconds, config }) {
    const most = niceAbove(Math.max(...seconds.map(([a, r]) => a + r), 4));
    const rate = config.refill_rate / config.refill_interval;
    const y = (n) => (n / most) * HEIGHT;
    seconds.forEach(([allowed, refused], i) => {
      const bar = this.#bars[i];
      const shown = `${allowed} ${refused} ${most}`;
      if (bar.shown === shown) {
        return;
      }
      bar.shown = shown;
      place(bar.allowed, HEIGHT - y(allowed), y(allowed));
      place(bar.refused, HEIGHT - y(allowed + refused), y(refused));
    });
    this.#rate.setAttribute("d", rate <= most ? `M0 ${HEIGHT - y(rate)}H${seconds.length * BAR}` : "");
    this.#rateText.hidden = rate > most;
    setText(this.#scale, `${most.toLocaleString("en")} per second`);
    const [allowed, refused] = seconds.reduce(([a, r], [x, z]) => [a + x, r + z], [0, 0]);
    const label = `Chart of the last minute: ${count(allowed, "request")} allowed, ${refused.toLocaleString("en")} refused.`;
    if (this.#figure.getAttribute("aria-label") !== label) {
      this.#figure.setAttribute("aria-label", label);
    }
  }
}

function place(rect, y, height) {
  rect.setAttribute("y", y);
  rect.setAttribute("height", height);
}

function element(name, className, text = "") {
  const e = document.createElement(name);
  e.className = className;
  e.textContent = text;
  return e;
}

// niceAbove returns the smallest of 5, 10, 20, 50, 100 and so on that is at least n.
function niceAbove(n) {
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 5, 10].map((k) => k * power).find((k) => k >= n && k >= 5);
}
