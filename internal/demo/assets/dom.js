// The few helpers that every part of the page needs.

export const $ = (id) => document.getElementById(id);

// setText writes only what has changed, so that readers and selections are left alone.
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

// svg makes an SVG element and appends it to parent, if there is one.
export function svg(name, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  parent?.append(element);
  return element;
}

// announce tells those who cannot see the page.
export function announce(text) {
  const region = $("announcer");
  region.textContent = "";
  requestAnimationFrame(() => { region.textContent = text; });
}

// calm says that the visitor asked for less motion.
const motion = matchMedia("(prefers-reduced-motion: reduce)");
export const calm = () => motion.matches;
