// Calls the simulator's page API; every failure is an ApiError whose message can be shown to a person.

const TIMEOUT_MS = 20_000;
const UPLOAD_TIMEOUT_MS = 120_000;

class ApiError extends Error {}

export const api = {
  loadWorld: () => call("GET", "/api/world"),
  sendMessage: (body) => call("POST", "/api/messages", body),
  sendAlbum: (body) => call("POST", "/api/albums", body),
  upload: (file, name) => upload(file, name),
  editMessage: (body) => call("POST", "/api/edits", body),
  deleteMessages: (body) => call("POST", "/api/deletions", body),
  forward: (body) => call("POST", "/api/forwards", body),
  react: (body) => call("POST", "/api/reactions", body),
  pressButton: (body) => call("POST", "/api/callbacks", body),
  askInline: (body) => call("POST", "/api/inline_queries", body),
  chooseInline: (body) => call("POST", "/api/inline_results", body),
  openWebApp: (body) => call("POST", "/api/web_apps", body),
  setBlocked: (body) => call("POST", "/api/blocks", body),
  changeMember: (body) => call("POST", "/api/members", body),
  setTitle: (body) => call("POST", "/api/titles", body),
  changeTopic: (body) => call("POST", "/api/topics", body),
  upgrade: (body) => call("POST", "/api/upgrades", body),
  setLanguage: (body) => call("POST", "/api/languages", body),
  orderFault: (body) => call("POST", "/api/faults", body),
  clearFaults: () => call("DELETE", "/api/faults"),
};

function call(method, path, body) {
  const headers = body ? { "Content-Type": "application/json" } : {};
  return answerOf(request(method, path, { headers, body: body && JSON.stringify(body) }, TIMEOUT_MS));
}

function upload(file, name) {
  const about = new URLSearchParams({ name, type: file.type.split(";")[0] });
  const headers = { "Content-Type": "application/octet-stream" };
  return answerOf(request("POST", `/api/files?${about}`, { headers, body: file }, UPLOAD_TIMEOUT_MS));
}

async function answerOf(requested) {
  const response = await requested;
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(answer?.error ?? `The simulator answered ${response.status}.`);
  if (answer === null) throw new ApiError("The simulator's answer could not be read.");
  return answer;
}

async function request(method, path, { headers, body }, timeout) {
  try {
    return await fetch(path, {
      method,
      headers: { Accept: "application/json", ...headers },
      body,
      signal: AbortSignal.timeout(timeout),
    });
  } catch (error) {
    const late = error.name === "TimeoutError";
    throw new ApiError(late ? "The simulator did not answer in time." : "The simulator cannot be reached.");
  }
}
