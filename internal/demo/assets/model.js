// The bucket as the server last described it, carried on to the instants in between by the server's own rule.

export class Model {
  #state = null;
  #at = 0;
  #frozen = null;

  // adopt takes what the server said, as of performance.now() = at.
  adopt(state, at) {
    this.#state = state;
    this.#at = at;
    this.#frozen = null;
  }

  // freeze stops carrying on: nobody knows what the bucket holds while the server does not answer.
  freeze(now) {
    this.#frozen ??= now;
  }

  get state() {
    return this.#state;
  }

  // figures returns what the bucket holds: whole tokens, the level with its fraction, and the seconds until more.
  figures(now) {
    const { remaining, next_refill: next, full_in: full, refill, config } = this.#state;
    const elapsed = Math.max(0, ((this.#frozen ?? now) - this.#at) / 1000);
    const { capacity, refill_rate: rate, refill_interval: interval } = config;
    const common = { capacity, smooth: refill === "smooth", untilFull: Math.max(0, full - elapsed) };
    if (remaining >= capacity) {
      return { ...common, tokens: capacity, level: capacity, untilNext: 0, period: interval, step: 0 };
    }
    const step = common.smooth ? 1 : rate;
    const period = common.smooth ? interval / rate : interval;
    const steps = elapsed < next ? 0 : 1 + Math.floor((elapsed - next) / period);
    const tokens = Math.min(capacity, remaining + steps * step);
    const untilNext = tokens < capacity ? next + steps * period - elapsed : 0;
    const grown = common.smooth && tokens < capacity ? 1 - untilNext / period : 0;
    return { ...common, tokens, level: tokens + Math.min(1, Math.max(0, grown)), untilNext, period, step: Math.min(step, capacity - tokens) };
  }
}
