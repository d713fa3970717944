// The form that changes the limit. The server judges every value; this only shows what it says.

import { $, announce } from "/dom.js";
import { configure } from "/api.js";
import { describe } from "/words.js";

const PAUSE_MS = 400;
const FIELDS = ["capacity", "refill_rate", "refill_interval"];

export class Controls {
  #form = $("controls");
  #changed;
  #timers = {};
  #editing = {}; // fields whose text is the visitor's, not yet the server's
  #state = null;

  // changed is called when the server has accepted a change; it fetches the state.
  constructor(changed) {
    this.#changed = changed;
    for (const name of FIELDS) {
      $(name).addEventListener("input", () => this.#later(name));
      $(name).addEventListener("change", () => this.#now(name));
    }
    for (const radio of this.#form.querySelectorAll("[name=refill]")) {
      radio.addEventListener("change", () => this.#send({ refill: radio.value }));
    }
    for (const button of this.#form.querySelectorAll(".presets button")) {
      button.addEventListener("click", () => this.#send({ ...button.dataset }));
    }
    this.#form.addEventListener("submit", (e) => {
      e.preventDefault();
      FIELDS.forEach((name) => this.#now(name));
    });
  }

  // show follows what is in force, wherever the change came from, but does not write where the visitor does.
  show(state) {
    this.#state = state;
    for (const name of FIELDS) {
      if (!this.#editing[name] && document.activeElement !== $(name)) {
        const text = inForce(state, name);
        if ($(name).value !== text) $(name).value = text;
      }
    }
    this.#form.elements.refill.value = state.refill;
  }

  #later(name) {
    this.#editing[name] = true;
    clearTimeout(this.#timers[name]);
    this.#timers[name] = setTimeout(() => this.#now(name), PAUSE_MS);
  }

  #now(name) {
    clearTimeout(this.#timers[name]);
    if (this.#editing[name]) {
      this.#send({ [name]: $(name).value.trim() });
    }
  }

  async #send(fields) {
    const names = Object.keys(fields);
    const typed = names.map((name) => $(name)?.value);
    const answer = await configure(fields).catch(() => ({ error: "The server does not answer." }));
    if (names.length === 1 && $(names[0]) && typed[0] !== $(names[0]).value) {
      return; // the visitor has typed on: a newer request is on its way
    }
    if (answer.success) {
      names.forEach((name) => { this.#editing[name] = false; this.#complain(name, ""); });
      if (names.length > 1) FIELDS.forEach((name) => { $(name).value = fields[name]; });
      const state = await this.#changed();
      announce(`The limit has changed. ${describe(state ?? this.#state)}`);
      return;
    }
    const name = names.find((n) => answer.error.startsWith(n)) ?? names[0];
    const kept = this.#state ? ` Still in force: ${inForce(this.#state, name)}.` : "";
    this.#complain(name, `${answer.error}.${kept}`);
  }

  #complain(name, text) {
    const error = $(`${name}-error`);
    error.hidden = text === "";
    error.textContent = text;
    $(name)?.setAttribute("aria-invalid", String(text !== ""));
  }
}

function inForce(state, name) {
  if (name === "refill") {
    return state.refill;
  }
  const value = state.config[name];
  return name === "refill_interval" && Number.isInteger(value) ? value.toFixed(1) : String(value);
}
