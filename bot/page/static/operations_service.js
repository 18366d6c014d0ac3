// The tab "Service": doctor, invitations and the effective settings.

import { button, el, fill } from "./dom.js";
import { moment } from "./operations_format.js";
import { forgetPersonCard } from "./operations_people.js";
import { card, hint, loadedPlace, problem } from "./operations_parts.js";
import { words } from "./words.js";

const TICK_MS = 250;
// The console, the settings and the doctor are in English only.
const ENGLISH = { lang: "en", dir: "ltr" };

export function serviceTab(api) {
  const invitations = loadedPlace(() => api.get("operations/invitations"), invitationsOf);
  const settings = loadedPlace(() => api.get("operations/settings"), settingsOf);
  const person = forgetPersonCard(api);
  const element = el(
    "div",
    { class: "ops-tab ops-columns" },
    el(
      "div",
      { class: "ops-column" },
      doctorCard(api),
      card(words("ops-invitations"), { id: "invitations" }, invitations.element),
      person.element,
    ),
    card(words("ops-settings"), { id: "settings" }, settings.element),
  );
  return {
    element,
    start() {
      invitations.load();
      settings.load();
    },
    stop() {
      invitations.stop();
      person.stop();
      settings.stop();
    },
  };
}

function doctorCard(api) {
  const result = el("div", { class: "ops-place", "data-testid": "doctor-result", "aria-live": "polite" });
  const run = button({ class: "button primary small", "data-testid": "doctor-button", onclick: examine }, words("ops-run-doctor"));

  async function examine() {
    run.disabled = true;
    const began = performance.now();
    const elapsed = el("span", { "aria-hidden": "true" });
    const tick = () => (elapsed.textContent = words("unit-s", { amount: Math.floor((performance.now() - began) / 1000) }));
    tick();
    const timer = setInterval(tick, TICK_MS);
    const progress = el("p", null, el("span", { class: "spinner" }), el("span", null, words("ops-checking")), elapsed);
    fill(result, el("div", { class: "ops-progress" }, progress, el("progress", { "aria-label": words("ops-checking") })));
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
  const help = hint(words("ops-doctor-hint"));
  fill(result, help);
  return card(words("ops-doctor"), { id: "doctor", actions: [run] }, result);
}

function checksOf(checks) {
  const problems = checks.filter(({ state }) => state === "problem").length;
  const warnings = checks.filter(({ state }) => state === "warning").length;
  const verdict = problems
    ? words("ops-problems", { count: problems })
    : warnings
      ? words("ops-warnings", { count: warnings })
      : words("ops-all-well");
  return [
    el("p", { class: "ops-verdict", "data-testid": "doctor-verdict" }, verdict),
    el("ul", { class: "ops-rows" }, checks.map(checkRow)),
  ];
}

function checkRow({ name, state, text, hint: fix }) {
  return el(
    "li",
    { class: "ops-row", "data-testid": "doctor-check" },
    el("span", { class: `ops-state ${state}` }, words("ops-check", { kind: state, name: state })),
    el(
      "span",
      { class: "ops-row-main", ...ENGLISH },
      el("b", null, name),
      el("small", null, el("bdi", null, text)),
      fix && el("small", { class: "ops-fix" }, fix),
    ),
  );
}

function invitationsOf({ guests, open }) {
  const waiting = words(open ? "ops-open-invitations" : "ops-open-invitations-none", { count: open });
  if (!guests.length) return hint(`${words("ops-guests-none")} ${waiting}`);
  const rows = guests.map(({ user_id: id, since }) =>
    el(
      "li",
      { class: "ops-row", "data-testid": "guest" },
      el("span", { class: "ops-row-main mono" }, String(id)),
      el("span", { class: "ops-row-end" }, since ? words("ops-since", { moment: moment(since) }) : ""),
    ),
  );
  return [hint(`${words("ops-guests", { count: guests.length })} ${waiting}`), el("ul", { class: "ops-rows" }, rows)];
}

function settingsOf({ settings }) {
  const list = el("dl", { class: "ops-settings" });
  const empty = hint("", { hidden: true });
  const all = el("input", { type: "checkbox", onchange: render, "data-testid": "settings-all" });
  const search = el("input", {
    class: "ops-input",
    type: "search",
    placeholder: words("ops-find-setting"),
    "aria-label": words("ops-find-setting"),
    oninput: render,
    "data-testid": "settings-search",
  });

  function render() {
    const sought = search.value.trim().toLowerCase();
    const found = settings.filter(
      ({ name, description, is_default: isDefault }) =>
        (sought || all.checked || !isDefault) && `${name} ${description}`.toLowerCase().includes(sought),
    );
    fill(list, found.map(settingItem));
    empty.hidden = found.length > 0;
    empty.textContent = words(sought ? "ops-setting-unknown" : "ops-settings-default");
  }
  render();
  const changed = settings.filter(({ is_default: isDefault }) => !isDefault).length;
  const choice = el("label", { class: "ops-check" }, all, words("ops-also-defaults", { number: settings.length - changed }));
  return [el("div", { class: "ops-form" }, search), choice, list, empty];
}

function settingItem({ name, value, is_default: isDefault, description }) {
  return el(
    "div",
    { "data-testid": "setting" },
    el("dt", null, el("span", { class: "mono" }, name), !isDefault && el("b", { class: "ops-sign" }, words("ops-changed"))),
    el("dd", { class: "mono" }, el("bdi", null, value || words("ops-empty"))),
    el("dd", { class: "ops-hint", ...ENGLISH }, description),
  );
}
