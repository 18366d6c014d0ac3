// Says that something is loading, empty or failed, and how it goes on.
import { button, el, icon } from "./dom.js";
import { sentence, words } from "./words.js";

export function stateBox({ picture, title, text, action, small = false }) {
  const isAlert = picture === "alert" || picture === "offline";
  return el(
    "div",
    { class: `state ${small ? "small" : ""}`, role: isAlert ? "alert" : null, "data-testid": "state" },
    !small && el("span", { class: "state-picture" }, icon(picture)),
    el("p", { class: "state-title" }, title),
    text && el("p", { class: "state-text", dir: "auto" }, text),
    action && button({ class: "button", onclick: action.run, "data-testid": "state-action" }, action.label),
  );
}

// `retry` may be missing; `seconds` is the time to the next try that happens anyway.
export function errorBox(error, { retry, seconds, small } = {}) {
  const [picture, title] = looksOf(error);
  const said = sentence(error.message);
  const text = seconds ? `${said} ${words("retrying-in", { count: Math.ceil(seconds) })}` : said;
  const action = retry && { label: words("try-again"), run: retry };
  return stateBox({ picture, title, text, action, small });
}

export function spinnerBox(label = words("loading")) {
  return el("div", { class: "state small", role: "status" }, el("span", { class: "spinner" }), el("p", null, label));
}

export function skeleton(lines) {
  const bars = Array.from({ length: lines }, (_, at) => el("div", { class: `skeleton bar-${at % 3}` }));
  return el("div", { class: "skeletons", "aria-hidden": "true" }, bars);
}

function looksOf(error) {
  if (error.code === "forbidden") return ["lock", words("forbidden-title")];
  if (error.code === "unavailable") return ["clock", words("unavailable-title")];
  if (error.code === "offline") return ["offline", words("unavailable-title")];
  return ["alert", words("failed-title")];
}
