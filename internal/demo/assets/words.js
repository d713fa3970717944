// Numbers, durations and the limit in words.

const NBSP = "\u00a0"; // keeps a number and its unit on one line

// count writes a whole number with its noun.
export const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

// duration writes seconds as a person would.
export function duration(seconds) {
  for (const [size, unit] of [[31536000, "years"], [86400, "days"], [3600, "h"], [60, "min"]]) {
    if (seconds >= 2 * size) {
      return `${tidy(seconds / size, 1)}${NBSP}${unit}`;
    }
  }
  return seconds >= 0.1 || seconds === 0 ? `${tidy(seconds, 2)}${NBSP}s` : `${tidy(seconds * 1000, 3)}${NBSP}ms`;
}

// countdown writes seconds for a figure that changes all the time.
export const countdown = (seconds) => (seconds < 60 ? `${(Math.ceil(seconds * 10) / 10).toFixed(1)} s` : duration(seconds));

const tidy = (n, digits) => Number(n.toFixed(digits)).toLocaleString("en");

const every = (seconds) => (seconds === 1 ? "every second" : `every ${duration(seconds)}`);

// describe says what the limit does.
export function describe({ config, refill }) {
  const { capacity, refill_rate: rate, refill_interval: interval } = config;
  const burst = capacity === 1 ? "Lets 1 request through" : `Lets bursts of ${capacity.toLocaleString("en")} through`;
  if (refill === "smooth") {
    const spread = rate === 1 ? "" : `, one ${every(interval / rate)}`;
    return `${burst}, then ${rate.toLocaleString("en")} ${every(interval)}${spread}.`;
  }
  const back = Math.min(rate, capacity);
  return `${burst}, then ${back.toLocaleString("en")} ${every(interval)}${back === 1 ? "" : ", all together"}.`;
}

// goCode is a program's middleware with this limit.
export function goCode({ limit }) {
  return `limiter := weir.MustNew(memstore.MustNew(memstore.Options{}), weir.Options{
	Limits: weir.MustParseLimits(${JSON.stringify(limit)}),
})
limit := httplimit.MustNew(httplimit.Options{Policies: []httplimit.Policy{{
	Limiter: limiter,
	Key:     httplimit.ClientIP(httplimit.ClientIPOptions{}),
}}})
http.ListenAndServe(":8080", limit(mux))`;
}

// curlCode sends a request to this server, and sets this limit.
export function curlCode({ config, refill }, origin) {
  const interval = Number.isInteger(config.refill_interval) ? config.refill_interval.toFixed(1) : config.refill_interval;
  return `# send a request
curl -i -X POST ${origin}/test

# set this limit
curl -d capacity=${config.capacity} -d refill_rate=${config.refill_rate} \\
     -d refill_interval=${interval} -d refill=${refill} ${origin}/config`;
}
