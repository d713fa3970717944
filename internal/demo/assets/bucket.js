// The picture of the bucket: a token for each one it holds, or a level when they are too many to draw.

import { svg, calm } from "/dom.js";
import { count, countdown } from "/words.js";

const MAX_TOKENS = 100;
const WIDTH = 320;
const TOP = 66, BOTTOM = 286;
const HALF_TOP = 132, HALF_BOTTOM = 104;
const MAX_FALLING = 8;

const corners = (inset) => [
  [WIDTH / 2 - HALF_TOP + inset, TOP], [WIDTH / 2 + HALF_TOP - inset, TOP],
  [WIDTH / 2 + HALF_BOTTOM - inset, BOTTOM - inset], [WIDTH / 2 - HALF_BOTTOM + inset, BOTTOM - inset],
];

export class Bucket {
  #svg; #content; #ring; #ringText; #tap;
  #capacity = 0;
  #tokens = []; // {element, scale}
  #level = null;
  #label = "";

  constructor(place) {
    this.#svg = svg("svg", { viewBox: `0 0 ${WIDTH} 330`, role: "img" });
    const path = corners(0).map((p) => p.join(" "));
    svg("path", { class: "inside", d: `M${path.join("L")}Z` }, this.#svg);
    const clip = svg("clipPath", { id: "bucket-inside" }, svg("defs", {}, this.#svg));
    svg("path", { d: `M${corners(0).map((p) => p.join(" ")).join("L")}Z` }, clip);
    this.#content = svg("g", {}, this.#svg);
    svg("path", { class: "wall", d: `M${path[0]}L${path[3]}L${path[2]}L${path[1]}` }, this.#svg);
    this.#tap = svg("g", { class: "tap" }, this.#svg);
    svg("circle", { class: "track", cx: WIDTH / 2, cy: 30, r: 24 }, this.#tap);
    this.#ring = svg("circle", { class: "ring", cx: WIDTH / 2, cy: 30, r: 24, pathLength: 100, "stroke-dasharray": "0 100",
      transform: `rotate(-90 ${WIDTH / 2} 30)` }, this.#tap);
    this.#ringText = svg("text", { x: WIDTH / 2, y: 36 }, this.#tap);
    place.append(this.#svg);
    this.#svg.addEventListener("animationend", (e) => {
      if (e.target.classList.contains("falling")) e.target.remove();
      else this.#svg.classList.remove("refused");
    });
  }

  // draw shows figures, as of now.
  draw(figures) {
    if (figures.capacity !== this.#capacity) {
      this.#layOut(figures.capacity);
    }
    if (this.#level) {
      this.#drawLevel(figures);
    } else {
      this.#tokens.forEach((token, i) => this.#grow(token, Math.min(1, Math.max(0, figures.level - i))));
    }
    this.#drawRing(figures);
    const label = `A bucket with ${figures.tokens.toLocaleString("en")} of ${count(figures.capacity, "token")}`;
    if (label !== this.#label) {
      this.#label = label;
      this.#svg.setAttribute("aria-label", label);
    }
  }

  // react shows that a request was allowed or refused.
  react(allowed) {
    if (calm()) {
      return;
    }
    if (!allowed) {
      this.#svg.classList.remove("refused");
      this.#svg.getBoundingClientRect(); // lets the animation begin again
      this.#svg.classList.add("refused");
    } else if (this.#svg.querySelectorAll(".falling").length < MAX_FALLING) {
      svg("circle", { class: "falling", cx: WIDTH / 2, cy: BOTTOM + 8, r: 9 }, this.#svg);
    }
  }

  #layOut(capacity) {
    this.#capacity = capacity;
    this.#content.replaceChildren();
    this.#tokens = [];
    this.#level = null;
    if (capacity > MAX_TOKENS) {
      this.#level = svg("rect", { class: "level", "clip-path": "url(#bucket-inside)", x: 0, width: WIDTH, y: BOTTOM, height: 0 }, this.#content);
      for (const part of [0.25, 0.5, 0.75]) {
        const y = BOTTOM - part * (BOTTOM - TOP);
        svg("path", { class: "tick", d: `M${WIDTH / 2 + HALF_BOTTOM + part * (HALF_TOP - HALF_BOTTOM) - 16} ${y}h16` }, this.#content);
      }
      return;
    }
    const width = 2 * HALF_BOTTOM - 16, height = BOTTOM - TOP - 14;
    const fits = (k) => Math.min(width / k, height / Math.ceil(capacity / k), 50);
    const largest = Math.max(...Array.from({ length: capacity }, (_, i) => fits(i + 1)));
    let columns = capacity;
    while (fits(columns) < 0.9 * largest) columns--; // a wide heap looks better than a tower
    const size = fits(columns);
    for (let i = 0; i < capacity; i++) {
      const row = Math.floor(i / columns);
      const inRow = Math.min(columns, capacity - row * columns);
      const place = { cx: WIDTH / 2 + ((i % columns) - (inRow - 1) / 2) * size, cy: BOTTOM - 8 - size / 2 - row * size, r: size * 0.42 };
      svg("circle", { class: "place", ...place, r: place.r - 1 }, this.#content);
      this.#tokens.push({ element: svg("circle", { class: "token", ...place }, this.#content), scale: 1 });
    }
  }

  #grow(token, scale) {
    if (Math.abs(token.scale - scale) > 0.004 || (token.scale !== scale && (scale === 0 || scale === 1))) {
      token.scale = scale;
      token.element.style.transform = `scale(${scale.toFixed(3)})`;
      token.element.classList.toggle("part", scale > 0 && scale < 1);
    }
  }

  #drawLevel({ level, capacity }) {
    const height = ((BOTTOM - TOP) * level) / capacity;
    this.#level.setAttribute("y", BOTTOM - height);
    this.#level.setAttribute("height", height);
  }

  #drawRing({ untilNext, period, step, tokens, capacity }) {
    const full = tokens >= capacity;
    // Faster than the eye follows, the ring stands for a steady flow.
    const part = full ? 0 : period < 0.25 ? 1 : Math.min(1, Math.max(0, 1 - untilNext / period));
    this.#ring.setAttribute("stroke-dasharray", `${(part * 100).toFixed(1)} 100`);
    const text = full ? "full" : step < 10000 ? `+${step}` : "+";
    if (this.#ringText.textContent !== text) {
      this.#ringText.textContent = text;
      this.#tap.classList.toggle("long", text.length > 3);
    }
  }
}

// countText says how many tokens there are.
export const countText = ({ tokens, capacity }) => `${tokens.toLocaleString("en")} of ${count(capacity, "token")}`;

// nextText says when more come.
export function nextText({ tokens, capacity, untilNext, untilFull, step, period }) {
  if (tokens >= capacity) {
    return "The bucket is full.";
  }
  const next = period < 0.25 ? `+${step.toLocaleString("en")} every ${Math.round(period * 1e6) / 1e3} ms` : `+${step.toLocaleString("en")} in ${countdown(untilNext)}`;
  return `${next} · full in ${countdown(untilFull)}`;
}
