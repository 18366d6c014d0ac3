// Small parts of the operators' page: cards, choices, states of loading and failure, questions, repeated loads.

import { button, el, fill } from "./dom.js";
import { sentence as translated, words } from "./words.js";

export const RETRY_S = 5;

// A card with a heading; `actions` stand beside the heading.
export function card(title, { id, actions = [], ...props } = {}, ...children) {
  const head = el("div", { class: "ops-card-head" }, el("h2", null, title), actions);
  return el("section", { class: "card ops-card", "aria-label": title, "data-testid": id, ...props }, head, ...children);
}

// A row of buttons of which one is pressed. `choices` are {id, name}; `onChoose(id)` is called after a press.
export function segments(label, choices, chosen, onChoose) {
  const element = el("div", { class: "ops-segments", role: "group", "aria-label": label });
  const show = (id) => {
    for (const each of element.children) each.setAttribute("aria-pressed", String(each.dataset.choice === id));
  };
  element.append(
    ...choices.map(({ id, name }) =>
      button({ "data-choice": id, "data-testid": `choice-${id}`, onclick: () => (show(id), onChoose(id)) }, name),
    ),
  );
  show(chosen);
  return element;
}

export const hint = (text, props) => el("p", { class: "ops-hint", ...props }, text);
export const waiting = () => el("div", { class: "ops-waiting", role: "status" }, el("span", { class: "spinner" }), words("loading"));

// Says what went wrong, with a button to try again.
export function problem(error, retry) {
  return el(
    "div",
    { class: "ops-problem", role: "alert", "data-testid": "ops-problem" },
    el("p", null, sentence(error)),
    retry && button({ class: "button plain small", onclick: retry }, words("try-again")),
  );
}

export function sentence(error) {
  if (error.code === "unavailable") return words("ops-store-away");
  return error.message ? translated(error.message) : words("bad-answer");
}

// A place whose content is loaded: a spinner at first, then `render(document)` or the problem.
// Returns {element, load, stop}. An answer that a later load overtook is ignored. While the store is away,
// the place tries again until `stop`.
export function loadedPlace(load, render) {
  const element = el("div", { class: "ops-place", "aria-busy": "false" });
  let turn = 0;
  async function reload() {
    turn += 1;
    const mine = turn;
    if (!element.hasChildNodes()) element.append(waiting());
    element.setAttribute("aria-busy", "true");
    try {
      const document = await load();
      if (mine === turn) fill(element, render(document));
    } catch (error) {
      if (mine !== turn) return;
      fill(element, problem(error, () => (fill(element, waiting()), reload())));
      if (error.isPassing) setTimeout(() => mine === turn && reload(), RETRY_S * 1000);
    } finally {
      if (mine === turn) element.setAttribute("aria-busy", "false");
    }
  }
  return { element, load: reload, stop: () => (turn += 1) };
}

// Calls the async `load` at once and then every `seconds`, while it is started and the page is visible.
// It waits for each call; a call that resolves to false has failed and is repeated after RETRY_S.
export function repeated(load, seconds) {
  let timer = null;
  let round = 0;
  const isSeen = () => document.visibilityState === "visible";

  async function run() {
    clearTimeout(timer);
    round += 1;
    const mine = round;
    const isWell = (await load()) !== false;
    if (mine === round && isSeen()) timer = setTimeout(run, (isWell ? seconds : RETRY_S) * 1000);
  }
  const onVisibility = () => (isSeen() ? run() : pause());
  function pause() {
    clearTimeout(timer);
    round += 1;
  }
  return {
    start() {
      document.addEventListener("visibilitychange", onVisibility);
      if (isSeen()) run();
    },
    stop() {
      document.removeEventListener("visibilitychange", onVisibility);
      pause();
    },
  };
}

// Asks before an action that cannot be undone. Resolves to true only after a press on `action`.
export function confirmed({ title, text, action }) {
  return new Promise((resolve) => {
    const close = (answer) => () => dialog.close(answer);
    const buttons = el(
      "div",
      { class: "dialog-buttons" },
      button({ class: "button plain", onclick: close("no"), "data-testid": "confirm-no" }, words("cancel")),
      button({ class: "button danger primary", onclick: close("yes"), "data-testid": "confirm-yes" }, action),
    );
    const dialog = el(
      "dialog",
      { class: "dialog", "aria-label": title, "data-testid": "confirm" },
      el("div", { class: "dialog-body" }, el("h2", null, title), el("p", null, text), buttons),
    );
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close("no"));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
