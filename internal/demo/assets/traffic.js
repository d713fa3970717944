// The players of traffic: single, burst, steady, ramp. What they can send is bounded.

import { $, setText, announce } from "/dom.js";
import { count } from "/words.js";

const MAX_RATE = 200, MAX_SECONDS = 60, MAX_BURST = 200, MAX_IN_FLIGHT = 24;
const TICK_MS = 20;
const GRACE_S = 3; // how long after its time a player may catch up

// Each player reads its form and returns {total, seconds, due}: due(t) requests should have been sent t seconds in.
const PLAYERS = {
  single: () => ({ total: 1, seconds: 0, due: () => 1 }),
  burst(read) {
    const n = read("n", 1, MAX_BURST, true);
    return { total: n, seconds: 0, due: () => n };
  },
  steady(read) {
    const [rate, seconds] = [read("rate", 0.1, MAX_RATE), read("time", 1, MAX_SECONDS)];
    const total = Math.max(1, Math.round(rate * seconds));
    return { total, seconds, due: (t) => Math.floor(rate * t) + 1 };
  },
  ramp(read) {
    const [from, to, seconds] = [read("from", 0, MAX_RATE), read("to", 0, MAX_RATE), read("time", 1, MAX_SECONDS)];
    const sent = (t) => from * t + ((to - from) * t * t) / (2 * seconds);
    const total = Math.max(1, Math.round(sent(seconds)));
    return { total, seconds, due: (t) => (t >= seconds ? total : Math.floor(sent(t))) };
  },
};

export class Traffic {
  #send;
  #run = null;

  // send sends one request and returns its answer, or throws.
  constructor(send) {
    this.#send = send;
    for (const name of Object.keys(PLAYERS)) {
      $(name).addEventListener("submit", (e) => {
        e.preventDefault();
        this.#play(name, e.target);
      });
    }
    $("stop").addEventListener("click", () => this.#stop("stopped"));
    document.addEventListener("visibilitychange", () => document.hidden && this.#stop("stopped, as the page was hidden"));
  }

  get playing() {
    return this.#run !== null;
  }

  #play(name, form) {
    let plan;
    try {
      plan = PLAYERS[name]((...bounds) => read(form, ...bounds));
    } catch (problem) {
      setText($("progress"), problem.message);
      announce(problem.message);
      return;
    }
    this.#stop("replaced");
    const title = name[0].toUpperCase() + name.slice(1);
    this.#run = { ...plan, title, began: performance.now(), sent: 0, inFlight: 0, allowed: 0, refused: 0, failed: 0 };
    $("stop").disabled = false;
    this.#tick(this.#run);
  }

  #tick(run) {
    if (run !== this.#run) {
      return;
    }
    const t = (performance.now() - run.began) / 1000;
    const due = Math.min(run.total, run.due(t));
    while (run.sent < due && run.inFlight < MAX_IN_FLIGHT) {
      run.sent++;
      this.#one(run);
    }
    if (run.sent === run.total && run.inFlight === 0) {
      this.#stop("done");
    } else if (t > run.seconds + GRACE_S && run.seconds > 0) {
      this.#stop("cut short, as this machine could not keep up");
    } else {
      this.#progress(run, "");
      setTimeout(() => this.#tick(run), TICK_MS);
    }
  }

  async #one(run) {
    run.inFlight++;
    try {
      const answer = await this.#send();
      run[answer.allowed ? "allowed" : "refused"]++;
    } catch (problem) {
      run.failed++;
      if (run === this.#run) this.#stop(`stopped, as the server ${problem.told ? "cannot decide" : "does not answer"}`);
    }
    run.inFlight--;
    if (run.outcome) this.#progress(run, run.outcome); // a tick shows it otherwise
  }

  #stop(outcome) {
    const run = this.#run;
    if (!run) {
      return;
    }
    this.#run = null;
    if (outcome === "replaced") {
      return;
    }
    run.outcome = outcome;
    $("stop").disabled = true;
    if (document.activeElement === $("stop")) $(run.title.toLowerCase()).querySelector("button").focus();
    announce(this.#progress(run, outcome));
  }

  #progress(run, outcome) {
    if (this.#run && run !== this.#run) {
      return "";
    }
    const failed = run.failed ? `, ${run.failed} undecided` : "";
    const text = `${run.title}${outcome ? ` (${outcome})` : ""}: ${run.sent} of ${count(run.total, "request")} sent, ${run.allowed} allowed, ${run.refused} refused${failed}.`;
    setText($("progress"), text);
    return text;
  }
}

// read returns a number of the form, or throws with what is wrong with it.
function read(form, name, least, most, whole = false) {
  const input = form.elements[name];
  const n = input.value.trim() === "" ? NaN : Number(input.value);
  const good = n >= least && n <= most && (!whole || Number.isInteger(n));
  input.setAttribute("aria-invalid", String(!good));
  if (!good) {
    input.focus();
    throw new Error(`${input.getAttribute("aria-label")} must be ${whole ? "a whole number" : "a number"} from ${least} to ${most}.`);
  }
  return n;
}
