// The trace of an update: what happened to it, the steps of its turn, and the parts of its answer.

import { button, el, fill } from "./dom.js";
import { duration, moment, money, whole } from "./operations_format.js";
import { card, hint, loadedPlace } from "./operations_parts.js";
import { words } from "./words.js";

// Returns {element, show(id)}; `show` traces an update and moves the view there.
export function tracePart(api) {
  let wanted = null;
  const input = el("input", {
    class: "ops-input",
    inputmode: "numeric",
    pattern: "[0-9]+",
    required: true,
    autocomplete: "off",
    placeholder: words("ops-update-example", { id: "731204559" }),
    "aria-label": words("ops-update-number"),
    "data-testid": "trace-input",
  });
  const place = loadedPlace(() => api.get(`operations/updates/${wanted}`), traceOf);
  place.element.dataset.testid = "trace";
  const form = el(
    "form",
    { class: "ops-form", role: "search", onsubmit: (event) => (event.preventDefault(), trace(input.value.trim())) },
    input,
    button({ type: "submit", class: "button primary small", "data-testid": "trace-button" }, words("ops-trace")),
  );
  const help = hint(words("ops-trace-hint"));
  const element = card(words("ops-trace-title"), { id: "trace-card", tabindex: -1 }, form, help, place.element);

  function trace(id) {
    wanted = encodeURIComponent(id);
    help.hidden = true;
    fill(place.element);
    return place.load();
  }
  return {
    element,
    async show(id) {
      input.value = id;
      await trace(id);
      element.scrollIntoView({ block: "start", behavior: "smooth" });
      element.focus({ preventScroll: true });
    },
  };
}

function traceOf(update) {
  return [factsList(factsOf(update)), stepsOf(update.turn), partsOf(update.sends ?? [])];
}

function factsOf(update) {
  const after = (time) => duration((new Date(time) - new Date(update.received_at)) / 1000);
  const since = (time) => time && words("ops-moment-after", { moment: moment(time), time: after(time) });
  const turn = update.turn;
  const again = update.redelivered ? words("ops-redelivered", { count: update.redelivered }) : "";
  const ahead = update.ahead === null ? null : update.ahead ? words("ops-after-others", { count: update.ahead }) : words("ops-first");
  return [
    ["ops-state", words("ops-state-is", { kind: update.state, name: update.state })],
    ["ops-reason", update.reason],
    ["ops-chat", [update.title, update.chat].filter(Boolean).join(" · ") || words("ops-context", { id: update.context })],
    ["ops-received", update.received_at && [moment(update.received_at), update.door, again].filter(Boolean).join(" · ")],
    ["ops-decision", update.action && `${update.action} (${update.why})`],
    ["ops-line", ahead],
    ["ops-begun", since(update.begun_at)],
    ["ops-attempt", update.attempts ? [whole(update.attempts), update.worker].filter(Boolean).join(" · ") : null],
    ["ops-steps-so-far", update.steps_so_far?.join(words("list-separator"))],
    ["ops-answered-with", update.answered_with && words("ops-other-update", { id: String(update.answered_with) })],
    ["ops-committed", since(update.committed_at)],
    ["ops-finished", since(update.finished_at)],
    ["ops-memories", turn && turn.recalled !== null ? memoriesText(turn) : null],
    ["ops-files", turn?.files ? whole(turn.files) : null],
    ["ops-tokens", turn && words("tokens", { read: turn.prompt_tokens, written: turn.completion_tokens })],
    ["fact-cost", turn && turn.cost !== null ? money(turn.cost) : null],
    ["ops-afterwards", turn?.compresses ? words("ops-compresses") : null],
  ]
    .filter(([, value]) => value)
    .map(([key, value]) => [words(key), value]);
}

function memoriesText({ recalled, facts }) {
  return [words("messages", { count: recalled }), facts && words("facts", { count: facts })].filter(Boolean).join(" · ");
}

export function factsList(facts) {
  return el(
    "dl",
    { class: "ops-facts" },
    facts.map(([label, value]) => el("div", null, el("dt", null, label), el("dd", null, el("bdi", { dir: "auto" }, value)))),
  );
}

// The steps with a bar each; the longest step has the full width.
function stepsOf(turn) {
  if (!turn?.steps.length) return null;
  const longest = Math.max(...turn.steps.map((step) => step.seconds), 0.001);
  const items = turn.steps.map((step) => {
    const bar = el("span", { class: "ops-step-bar", "aria-hidden": "true" });
    bar.style.inlineSize = `${Math.max(0.5, (100 * step.seconds) / longest)}%`;
    const tokens = step.kind === "model" && words("tokens", { read: step.prompt_tokens, written: step.completion_tokens });
    const isWell = step.outcome === "ok" || step.outcome === "replayed";
    const item = el(
      "li",
      { class: `ops-step ${isWell ? "" : "failed"}`, "data-testid": "trace-step" },
      el(
        "p",
        { class: "ops-step-line" },
        el("span", null, words("ops-step", { kind: step.kind, name: step.kind }), " ", el("bdi", { class: "mono" }, step.name)),
        el("strong", null, duration(step.seconds)),
      ),
      el("span", { class: "ops-step-track" }, bar),
      el("p", { class: "ops-hint" }, [step.outcome !== "ok" && words("outcome", { kind: step.outcome, name: step.outcome }), tokens].filter(Boolean).join(" · ")),
    );
    item.style.marginInlineStart = `${Math.min(step.within_delegations, 6) * 14}px`;
    return item;
  });
  const more = turn.more_steps ? hint(words("ops-more-steps", { count: turn.more_steps })) : null;
  return [el("h3", null, words("ops-steps")), el("ol", { class: "ops-steps" }, items), more];
}

function partsOf(sends) {
  if (!sends.length) return null;
  const heads = ["ops-part", "ops-outcome", "ops-message", "ops-waited"].map((key) => words(key));
  const rows = sends.map((part) => {
    const tries = [
      part.repeats ? words("ops-repeats", { count: part.repeats }) : "",
      part.refusals ? words("ops-part-refusals", { count: part.refusals }) : "",
    ].filter(Boolean);
    return el(
      "tr",
      { "data-testid": "trace-send" },
      el("th", { scope: "row" }, `${whole(part.part + 1)} · ${part.kind}`),
      el("td", null, el("bdi", null, part.outcome), tries.length > 0 && el("small", null, tries.join(" · "))),
      el("td", { class: "number" }, part.message_id === null ? "–" : String(part.message_id)),
      el("td", { class: "number" }, duration(part.waited_s)),
    );
  });
  return [
    el("h3", null, words("ops-parts")),
    el(
      "table",
      { class: "ops-table", "aria-label": words("ops-parts") },
      el("thead", null, el("tr", null, heads.map((head, at) => el("th", { scope: "col", class: at > 1 ? "number" : "" }, head)))),
      el("tbody", null, rows),
    ),
  ];
}
