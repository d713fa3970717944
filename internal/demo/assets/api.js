// The server's API. Every call answers or throws within a few seconds. What it throws says in told what the server
// answered that is wrong; without told there was no such answer.

const TIMEOUT_MS = 5000;

const call = (path, options) => fetch(path, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS), ...options });

// problem returns what to throw for an answer that is none.
function problem(what, status, text) {
  const error = new Error(`${what} answered ${status}`);
  try {
    error.told = JSON.parse(text).error;
  } catch {
    // It does not come from weir demo.
  }
  return error;
}

// test sends one request and returns what came back, headers and all.
export async function test() {
  const response = await call("/test", { method: "POST" });
  const text = await response.text();
  const answer = {
    time: new Date(),
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
    retryAfter: response.headers.get("Retry-After"),
    text,
  };
  if (response.status !== 200 && response.status !== 429) {
    throw problem("POST /test", response.status, text);
  }
  return { ...answer, ...JSON.parse(text) };
}

// configure changes the given fields and returns {success, config} or {success, error}.
export async function configure(fields) {
  const response = await call("/config", { method: "POST", body: new URLSearchParams(fields) });
  return response.json();
}

// state returns what the bucket holds, and charges nothing.
export async function state() {
  const response = await call("/state");
  if (!response.ok) {
    throw problem("GET /state", response.status, await response.text());
  }
  return response.json();
}
