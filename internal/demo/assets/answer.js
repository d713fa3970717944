// The result of the last request and the headers that came with it.

import { $, setText, announce } from "/dom.js";
import { count } from "/words.js";

// What the headers are called in their standards, and what they tell. The browser lower-cases all names.
const KNOWN = {
  "ratelimit": ["RateLimit", (v, allowed) => v.replace(/^.*?;r=(\d+);t=(\d+).*$/, `r: $1 left; t: ${allowed ? "all back" : "the next"} in $2 s`)],
  "ratelimit-policy": ["RateLimit-Policy", (v) => v.replace(/^.*?;q=(\d+);w=(\d+).*$/, "q: at most $1 at once; w: empty to full in $2 s")],
  "retry-after": ["Retry-After", (v) => `come back in ${v} s, rounded up`],
  "cache-control": ["Cache-Control"],
  "content-type": ["Content-Type"],
};

// resultText says what came of a request.
export function resultText(answer) {
  if (answer.allowed) {
    return `Allowed. ${count(answer.remaining, "token")} left.`;
  }
  return answer.retryAfter ? `Refused. Try again in ${answer.retryAfter} s.` : "Refused.";
}

// showAnswer shows an answer; aloud also tells those who cannot see it.
export function showAnswer(answer, aloud) {
  showResult(answer.allowed ? "allowed" : "refused", resultText(answer), aloud);
  const named = answer.headers.map(([name, value]) => ({ name: KNOWN[name]?.[0] ?? name, value, key: name }));
  const order = Object.keys(KNOWN);
  const limits = named.filter((h) => KNOWN[h.key]).sort((a, b) => order.indexOf(a.key) - order.indexOf(b.key));
  const status = `${answer.status} ${answer.statusText}`.trim();
  const lines = (list) => list.map((h) => `${h.name}: ${h.value}`).join("\n");
  setText($("answer-head"), `${status}\n${lines(limits)}`);
  $("answer-head").dataset.result = answer.allowed ? "allowed" : "refused";
  setText($("answer-all"), `${status}\n${lines(named)}\n\n${answer.text.trim()}`);
  $("answer-notes").replaceChildren(...limits.flatMap((h) => notes(h, answer.allowed)));
  $("answer-empty").hidden = true;
  $("answer-shown").hidden = false;
}

function notes({ key, name, value }, allowed) {
  const explain = KNOWN[key][1];
  if (!explain) {
    return [];
  }
  const [term, text] = [document.createElement("dt"), document.createElement("dd")];
  term.textContent = name;
  text.textContent = explain(value, allowed);
  return [term, text];
}

const MARKS = { allowed: "✓", refused: "✕", failed: "!", none: "•" };

// showResult shows one line in large letters.
export function showResult(kind, text, aloud) {
  const result = $("result");
  result.dataset.result = kind;
  setText(result.querySelector(".mark"), MARKS[kind]);
  setText(result.querySelector(".text"), text);
  if (aloud) {
    announce(text);
  }
}
