// Calls the page's JSON API. Every failure is an ApiError whose message can be shown to a person.
import { words } from "./words.js";

const TIMEOUT_MS = 30_000;
// Failures after which the same request may succeed later.
const PASSING = new Set(["unavailable", "offline", "too_many_requests"]);
// Failures after which every request fails, until the page is opened again.
const FINAL = new Set(["expired", "unauthorized"]);
const LONGEST_WAIT_S = 30;

export class ApiError extends Error {
  constructor(code, message, retryAfter = null) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  get isPassing() {
    return PASSING.has(this.code);
  }
}

// `authorization` is the header's value. `onEnd(error)` is called when the page must be opened again.
export function createApi({ authorization, link, onEnd = () => {} }) {
  async function request(method, path, { body, signal } = {}) {
    const headers = { Accept: "application/json", Authorization: authorization };
    if (link) headers["Mnemogram-Link"] = link;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    try {
      return await send(path, { method, headers, body: body && JSON.stringify(body) }, signal);
    } catch (error) {
      if (FINAL.has(error.code)) onEnd(error);
      throw error;
    }
  }

  // Paths are relative to `/app/api/`. All resolve to the answer's document, or reject with an ApiError
  // (or an AbortError after `signal`).
  return {
    get: (path, { signal } = {}) => request("GET", path, { signal }),
    post: (path, body = {}, { signal } = {}) => request("POST", path, { body, signal }),
    delete: (path) => request("DELETE", path),
  };
}

// Repeats `load()` until it succeeds or fails for good. `onTrouble(error, seconds)` is called before each wait.
export async function keepTrying(load, { signal, onTrouble = () => {} } = {}) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await load();
    } catch (error) {
      if (!error.isPassing) throw error;
      const seconds = Math.min(LONGEST_WAIT_S, error.retryAfter ?? 2 ** attempt);
      onTrouble(error, seconds);
      await pause(seconds, signal);
    }
  }
}

// Waits; a connection that comes back ends the wait.
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const wake = new AbortController();
    const timer = setTimeout(finish, seconds * 1000);
    function finish() {
      clearTimeout(timer);
      wake.abort();
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
    if (signal?.aborted) finish();
    signal?.addEventListener("abort", finish, { signal: wake.signal });
    window.addEventListener("online", finish, { signal: wake.signal });
  });
}

async function send(path, options, signal) {
  let response;
  let document = null;
  try {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    response = await fetch(`api/${path}`, { ...options, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    document = await response.json().catch((error) => {
      if (error.name !== "SyntaxError") throw error;
      return null;
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const isLate = error.name === "TimeoutError";
    throw new ApiError(isLate ? "unavailable" : "offline", isLate ? words("late") : words("unreachable"));
  }
  if (response.ok && document !== null) return document;
  const wait = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const code = document?.error ?? (response.status >= 500 ? "unavailable" : "bad_request");
  throw new ApiError(code, document?.message ?? words("bad-answer"), Number.isNaN(wait) ? null : Math.max(1, wait));
}
