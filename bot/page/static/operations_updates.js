// The tab "Updates": dead letters with retry and drop, and the trace of an update.

import { button, el, name } from "./dom.js";
import { count, duration } from "./operations_format.js";
import { card, confirmed, hint, loadedPlace, sentence } from "./operations_parts.js";
import { tracePart } from "./operations_trace.js";

export function updatesTab(api) {
  const trace = tracePart(api);
  const status = el("p", { class: "ops-status", role: "status", "data-testid": "dead-letter-status" });
  const place = loadedPlace(
    () => api.get("operations/dead-letters"),
    ({ dead_letters: letters }) => lettersList(letters),
  );

  function lettersList(letters) {
    if (!letters.length) return hint("No dead letters. Every update was answered or is on its way.");
    return el("ul", { class: "ops-letters" }, letters.map(letterItem));
  }

  function letterItem(letter) {
    const { update_id: id, chat, title, reason, attempts, age_s: age } = letter;
    const buttons = el(
      "div",
      { class: "ops-letter-buttons" },
      action("Trace", "trace-letter", () => trace.show(id)),
      action("Retry", "retry-letter", () => settle("retry")),
      action("Drop", "drop-letter", () => settle("drop"), "danger"),
    );
    return el(
      "li",
      { class: "ops-letter", "data-testid": "dead-letter" },
      el("p", { class: "ops-letter-title" }, name(title || chat || "Unknown chat", { dir: "auto" }), el("small", null, `update ${id}`)),
      el("p", { class: "ops-letter-reason" }, el("bdi", null, reason || "No reason was recorded.")),
      el("p", { class: "ops-hint" }, `${count(attempts, "attempt")}, ${duration(age)} ago`),
      buttons,
    );

    function action(label, testId, onclick, tone = "plain") {
      return button({ class: `button small ${tone}`, "data-testid": testId, "aria-label": `${label} update ${id}`, onclick }, label);
    }
    async function settle(deed) {
      if (deed === "drop" && !(await confirmed(dropQuestion(id)))) return;
      for (const each of buttons.children) each.disabled = true;
      try {
        const { done } = await api.post(`operations/dead-letters/${id}/${deed}`);
        status.textContent = outcomeOf(id, deed, done);
        await place.load();
      } catch (error) {
        status.textContent = `Update ${id}: ${sentence(error)}`;
        for (const each of buttons.children) each.disabled = false;
      }
    }
  }

  return {
    element: el(
      "div",
      { class: "ops-tab ops-columns" },
      card("Dead letters", { id: "dead-letters" }, status, place.element),
      trace.element,
    ),
    start: place.load,
    stop() {
      place.stop();
      status.textContent = "";
    },
  };
}

function dropQuestion(id) {
  return {
    title: `Drop update ${id}?`,
    text: "Its message stays without an answer. You cannot undo this.",
    action: "Drop",
  };
}

function outcomeOf(id, deed, isDone) {
  if (!isDone) return `Update ${id} is not a dead letter any more.`;
  return deed === "retry" ? `Update ${id} will be tried again.` : `Update ${id} was dropped.`;
}
