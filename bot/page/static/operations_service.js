// The tab "Service": doctor, invitations and the effective settings.

import { button, el, fill } from "./dom.js";
import { count, moment } from "./operations_format.js";
import { card, hint, loadedPlace, problem } from "./operations_parts.js";

const TICK_MS = 250;
export function serviceTab(api) {
  const invitations = loadedPlace(() => api.get("operations/invitations"), invitationsOf);
  const settings = loadedPlace(() => api.get("operations/settings"), settingsOf);
  const element = el(
    "div",
    { class: "ops-tab ops-columns" },
    el(
      "div",
      { class: "ops-column" },
      doctorCard(api),
      card("Invitations", { id: "invitations" }, invitations.element),
    ),
    card("Settings in effect", { id: "settings" }, settings.element),
  );
  return {
    element,
    start() {
      invitations.load();
      settings.load();
    },
    stop() {
      invitations.stop();
      settings.stop();
    },
  };
}

function doctorCard(api) {
  const result = el("div", { class: "ops-place", "data-testid": "doctor-result", "aria-live": "polite" });
  const run = button({ class: "button primary small", "data-testid": "doctor-button", onclick: examine }, "Run doctor");

  async function examine() {
    run.disabled = true;
    const began = performance.now();
    const elapsed = el("span", { "aria-hidden": "true" });
    const tick = () => (elapsed.textContent = `${Math.floor((performance.now() - began) / 1000)} s`);
    tick();
    const timer = setInterval(tick, TICK_MS);
    const words = el("p", null, el("span", { class: "spinner" }), el("span", null, "Checking every setting and dependency…"), elapsed);
    fill(result, el("div", { class: "ops-progress" }, words, el("progress", { "aria-label": "Doctor runs" })));
    try {
      const { checks } = await api.get("operations/doctor");
      fill(result, checksOf(checks));
    } catch (error) {
      fill(result, problem(error));
    } finally {
      clearInterval(timer);
      run.disabled = false;
    }
  }
  const help = hint("Doctor checks every setting, store, model and address. It takes up to ten seconds.");
  fill(result, help);
  return card("Doctor", { id: "doctor", actions: [run] }, result);
}

function checksOf(checks) {
  const problems = checks.filter(({ state }) => state === "problem").length;
  const warnings = checks.filter(({ state }) => state === "warning").length;
  const verdict = problems
    ? `${count(problems, "problem")} to solve.`
    : warnings
      ? `It works, with ${count(warnings, "warning")}.`
      : "All is well.";
  return [
    el("p", { class: "ops-verdict", "data-testid": "doctor-verdict" }, verdict),
    el("ul", { class: "ops-rows" }, checks.map(checkRow)),
  ];
}

function checkRow({ name, state, text, hint: fix }) {
  return el(
    "li",
    { class: "ops-row", "data-testid": "doctor-check" },
    el("span", { class: `ops-state ${state}` }, state),
    el(
      "span",
      { class: "ops-row-main" },
      el("b", null, name),
      el("small", null, el("bdi", null, text)),
      fix && el("small", { class: "ops-fix" }, fix),
    ),
  );
}

function invitationsOf({ guests, open }) {
  const waiting = open ? `${count(open, "invitation")} ${open === 1 ? "is" : "are"} open.` : "No invitation is open.";
  if (!guests.length) return hint(`No guests. ${waiting}`);
  const rows = guests.map(({ user_id: id, since }) =>
    el(
      "li",
      { class: "ops-row", "data-testid": "guest" },
      el("span", { class: "ops-row-main mono" }, String(id)),
      el("span", { class: "ops-row-end" }, since ? `since ${moment(since)}` : ""),
    ),
  );
  return [hint(`${count(guests.length, "guest")}. ${waiting}`), el("ul", { class: "ops-rows" }, rows)];
}

function settingsOf({ settings }) {
  const list = el("dl", { class: "ops-settings" });
  const empty = hint("No setting has this in its name or description.", { hidden: true });
  const all = el("input", { type: "checkbox", onchange: render, "data-testid": "settings-all" });
  const search = el("input", {
    class: "ops-input",
    type: "search",
    placeholder: "Find a setting",
    "aria-label": "Find a setting",
    oninput: render,
    "data-testid": "settings-search",
  });

  function render() {
    const words = search.value.trim().toLowerCase();
    const found = settings.filter(
      ({ name, description, is_default: isDefault }) =>
        (words || all.checked || !isDefault) && `${name} ${description}`.toLowerCase().includes(words),
    );
    fill(list, found.map(settingItem));
    empty.hidden = found.length > 0;
    empty.textContent = words ? "No setting has this in its name or description." : "Every setting has its default.";
  }
  render();
  const changed = settings.filter(({ is_default: isDefault }) => !isDefault).length;
  const choice = el("label", { class: "ops-check" }, all, `Also the ${settings.length - changed} defaults`);
  return [el("div", { class: "ops-form" }, search), choice, list, empty];
}

function settingItem({ name, value, is_default: isDefault, description }) {
  return el(
    "div",
    { "data-testid": "setting" },
    el("dt", null, el("span", { class: "mono" }, name), !isDefault && el("b", { class: "ops-sign" }, "changed")),
    el("dd", { class: "mono" }, el("bdi", null, value || "(empty)")),
    el("dd", { class: "ops-hint" }, description),
  );
}
