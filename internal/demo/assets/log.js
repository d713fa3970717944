// The requests that this page has sent, newest first.

import { $ } from "/dom.js";

const MAX_ROWS = 200;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

let waiting = [];

// logAnswer adds a row. Rows are drawn once a frame, so that bursts do not hold up the page.
export function logAnswer(answer) {
  waiting.push(answer);
  if (waiting.length === 1) {
    requestAnimationFrame(draw);
  }
}

function draw() {
  const rows = $("log-rows");
  rows.querySelector(".empty")?.remove();
  rows.prepend(...waiting.slice(-MAX_ROWS).reverse().map(row));
  waiting = [];
  while (rows.children.length > MAX_ROWS) {
    rows.lastElementChild.remove();
  }
}

function row(answer) {
  const tr = document.createElement("tr");
  tr.dataset.result = answer.allowed ? "allowed" : "refused";
  const texts = [
    clock.format(answer.time),
    answer.allowed ? "✓ allowed" : "✕ refused",
    answer.remaining.toLocaleString("en"),
    answer.retryAfter ? `${answer.retryAfter} s` : "",
  ];
  for (const text of texts) {
    tr.insertCell().textContent = text;
  }
  return tr;
}
