// The page: asks the server for the state of the bucket and tells the parts, and sends requests for them.

import { $, setText, announce, calm } from "/dom.js";
import * as api from "/api.js";
import { Model } from "/model.js";
import { Bucket, countText, nextText } from "/bucket.js";
import { Chart } from "/chart.js";
import { Controls } from "/controls.js";
import { Traffic } from "/traffic.js";
import { showAnswer, showResult } from "/answer.js";
import { logAnswer } from "/log.js";
import { describe, goCode, curlCode } from "/words.js";

const POLL_MS = 250;
const SOON_MS = 40;

const model = new Model();
const bucket = new Bucket($("bucket-picture"));
const chart = new Chart($("chart"), 60);
const controls = new Controls(refresh);
const traffic = new Traffic(send);

let asking = null; // the request for the state that is under way
let next = null; // the one after it, which all wait for who call meanwhile
let soon = 0;

// refresh asks for the state, and returns one that is as new as the call.
function refresh() {
  if (!asking) {
    asking = ask().finally(() => { asking = null; });
    return asking;
  }
  next ??= asking.then(() => { next = null; return refresh(); });
  return next;
}

async function ask() {
  const sent = performance.now();
  try {
    const state = await api.state();
    const received = performance.now();
    model.adopt(state, (sent + received) / 2);
    lament(null);
    showState(state);
    return state;
  } catch (problem) {
    model.freeze(performance.now());
    lament(problem);
    return null;
  }
}

// lament says above the page why its figures stand still: the server is gone, or answers that it cannot tell them.
function lament(problem) {
  $("offline").hidden = !problem || Boolean(problem.told);
  $("troubled").hidden = !problem?.told;
  if (problem?.told) setText($("troubled"), `The figures stand still: ${problem.told}. Trying again.`);
}

function refreshSoon() {
  soon ||= setTimeout(() => { soon = 0; refresh(); }, SOON_MS);
}

function showState(state) {
  controls.show(state);
  chart.draw(state);
  setText($("words"), describe(state));
  setText($("code-go"), goCode(state));
  setText($("code-curl"), curlCode(state, location.origin));
  drawBucket();
}

function drawBucket() {
  if (!model.state) {
    return;
  }
  const figures = model.figures(performance.now());
  bucket.draw(figures);
  setText($("bucket-count").firstElementChild, countText(figures));
  setText($("bucket-next"), nextText(figures));
}

function frame() {
  if (!calm()) drawBucket(); // otherwise it is drawn with each state
  requestAnimationFrame(frame);
}

let last = null; // the answer that the next frame shows

function show(answer) {
  if (!last) {
    requestAnimationFrame(() => {
      showAnswer(last, !traffic.playing);
      bucket.react(last.allowed);
      last = null;
    });
  }
  last = answer;
}

// send sends one request and shows what came of it: in fast traffic the last one of each frame.
async function send() {
  try {
    const answer = await api.test();
    show(answer);
    logAnswer(answer);
    return answer;
  } catch (problem) {
    showResult("failed", problem.told ? `Not decided: ${problem.told}.` : "No answer from the server.", !traffic.playing);
    throw problem;
  } finally {
    refreshSoon();
  }
}

$("send").addEventListener("click", () => send().catch(() => {}));

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const copied = await navigator.clipboard.writeText($(button.dataset.copy).textContent).then(() => true, () => false);
    setText(button, copied ? "Copied" : "Not copied");
    announce(button.textContent);
    setTimeout(() => setText(button, "Copy"), 1500);
  });
}

setInterval(() => { if (!document.hidden && !asking) refresh(); }, POLL_MS);
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
refresh();
requestAnimationFrame(frame);
