// The trace of an update: what happened to it, the steps of its turn, and the parts of its answer.

import { button, el, fill } from "./dom.js";
import { count, duration, moment, money, whole } from "./operations_format.js";
import { card, hint, loadedPlace } from "./operations_parts.js";

const STATES = {
  pending: "it waits for its turn",
  delivering: "its answer is committed and being sent",
  answered: "it was answered",
  ignored: "it needed no answer",
  refused: "its sender may not use the bot",
  forgotten: "its chat was reset",
  dead: "it was given up",
};
// Values are the spelling of the document; a name that is missing here is shown as it is.
const STEP_NAMES = { model: "model call", tool: "tool", digest: "digest of steps" };

// Returns {element, show(id)}; `show` traces an update and moves the view there.
export function tracePart(api) {
  let wanted = null;
  const input = el("input", {
    class: "ops-input",
    inputmode: "numeric",
    pattern: "[0-9]+",
    required: true,
    autocomplete: "off",
    placeholder: "for example 731204559",
    "aria-label": "Number of the update",
    "data-testid": "trace-input",
  });
  const place = loadedPlace(() => api.get(`operations/updates/${wanted}`), traceOf);
  place.element.dataset.testid = "trace";
  const form = el(
    "form",
    { class: "ops-form", role: "search", onsubmit: (event) => (event.preventDefault(), trace(input.value.trim())) },
    input,
    button({ type: "submit", class: "button primary small", "data-testid": "trace-button" }, "Trace"),
  );
  const help = hint("The number of an update is in the logs and in the dead letters. Texts are never shown.");
  const element = card("Trace of an update", { id: "trace-card", tabindex: -1 }, form, help, place.element);

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
  const since = (time) => time && `${moment(time)}, after ${duration((new Date(time) - new Date(update.received_at)) / 1000)}`;
  const turn = update.turn;
  const again = update.redelivered ? `, and ${count(update.redelivered, "time")} again` : "";
  const ahead = update.ahead === null ? null : update.ahead ? `after ${count(update.ahead, "other")}` : "first";
  return [
    ["State", STATES[update.state] ? `${update.state}: ${STATES[update.state]}` : update.state],
    ["Reason", update.reason],
    ["Chat", [update.title, update.chat].filter(Boolean).join(" · ") || `context ${update.context}`],
    ["Received", update.received_at && `${moment(update.received_at)}${update.door ? ` by ${update.door}` : ""}${again}`],
    ["Decision", update.action && `${update.action} (${update.why})`],
    ["In its line", ahead],
    ["Begun", since(update.begun_at)],
    ["Attempt", update.attempts ? `${update.attempts}${update.worker ? `, by ${update.worker}` : ""}` : null],
    ["Finished so far", update.steps_so_far?.join(", ")],
    ["Answered with", update.answered_with && `update ${update.answered_with}, whose turn is below`],
    ["Committed", since(update.committed_at)],
    ["Finished", since(update.finished_at)],
    ["Memories used", turn && turn.recalled !== null ? memoriesText(turn) : null],
    ["Files", turn?.files ? whole(turn.files) : null],
    ["Tokens", turn && `${whole(turn.prompt_tokens)} read, ${whole(turn.completion_tokens)} written`],
    ["Cost", turn && turn.cost !== null ? money(turn.cost) : null],
    ["Afterwards", turn?.compresses ? "the conversation is compressed" : null],
  ].filter(([, value]) => value);
}

function memoriesText({ recalled, facts }) {
  return [count(recalled, "message"), facts && count(facts, "fact")].filter(Boolean).join(", ");
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
    bar.style.width = `${Math.max(0.5, (100 * step.seconds) / longest)}%`;
    const tokens = step.kind === "model" && `${whole(step.prompt_tokens)} + ${whole(step.completion_tokens)} tokens`;
    const isWell = step.outcome === "ok" || step.outcome === "replayed";
    const item = el(
      "li",
      { class: `ops-step ${isWell ? "" : "failed"}`, "data-testid": "trace-step" },
      el(
        "p",
        { class: "ops-step-line" },
        el("span", null, STEP_NAMES[step.kind] ?? step.kind, " ", el("bdi", { class: "mono" }, step.name)),
        el("strong", null, duration(step.seconds)),
      ),
      el("span", { class: "ops-step-track" }, bar),
      el("p", { class: "ops-hint" }, [isWell && step.outcome === "ok" ? "" : step.outcome, tokens].filter(Boolean).join(" · ")),
    );
    item.style.marginInlineStart = `${Math.min(step.within_delegations, 6) * 14}px`;
    return item;
  });
  const more = turn.more_steps ? hint(`and ${count(turn.more_steps, "more step")}.`) : null;
  return [el("h3", null, "Steps"), el("ol", { class: "ops-steps" }, items), more];
}

function partsOf(sends) {
  if (!sends.length) return null;
  const heads = ["Part", "Outcome", "Message", "Waited"];
  const rows = sends.map((part) => {
    const tries = [
      part.repeats ? count(part.repeats, "repeat") : "",
      part.refusals ? count(part.refusals, "refusal") : "",
    ].filter(Boolean);
    return el(
      "tr",
      { "data-testid": "trace-send" },
      el("th", { scope: "row" }, `${part.part + 1} · ${part.kind}`),
      el("td", null, el("bdi", null, part.outcome), tries.length > 0 && el("small", null, tries.join(", "))),
      el("td", { class: "number" }, part.message_id === null ? "–" : String(part.message_id)),
      el("td", { class: "number" }, duration(part.waited_s)),
    );
  });
  return [
    el("h3", null, "Parts of the answer"),
    el(
      "table",
      { class: "ops-table", "aria-label": "Parts of the answer" },
      el("thead", null, el("tr", null, heads.map((head, at) => el("th", { scope: "col", class: at > 1 ? "number" : "" }, head)))),
      el("tbody", null, rows),
    ),
  ];
}
