// Calls the simulator's page API; every failure is an ApiError whose message can be shown to a person.

const TIMEOUT_MS = 20_000;

class ApiError extends Error {}

export const api = {
  loadWorld: () => call("GET", "/api/world"),
  sendMessage: (body) => call("POST", "/api/messages", body),
  editMessage: (body) => call("POST", "/api/edits", body),
  pressButton: (body) => call("POST", "/api/callbacks", body),
  setBlocked: (body) => call("POST", "/api/blocks", body),
};

async function call(method, path, body) {
  const response = await request(method, path, body);
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(answer?.error ?? `The simulator answered ${response.status}.`);
  if (answer === null) throw new ApiError("The simulator's answer could not be read.");
  return answer;
}

async function request(method, path, body) {
  const options = {
    method,
    headers: { Accept: "application/json" },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
  if (body) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  try {
    return await fetch(path, options);
  } catch (error) {
    const late = error.name === "TimeoutError";
    throw new ApiError(late ? "The simulator did not answer in time." : "The simulator cannot be reached.");
  }
}
