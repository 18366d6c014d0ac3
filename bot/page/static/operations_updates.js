// The tab "Updates": dead letters with retry and drop, and the trace of an update.

import { button, el, name } from "./dom.js";
import { duration } from "./operations_format.js";
import { card, confirmed, hint, loadedPlace, sentence } from "./operations_parts.js";
import { tracePart } from "./operations_trace.js";
import { words } from "./words.js";

export function updatesTab(api) {
  const trace = tracePart(api);
  const status = el("p", { class: "ops-status", role: "status", "data-testid": "dead-letter-status" });
  const place = loadedPlace(
    () => api.get("operations/dead-letters"),
    ({ dead_letters: letters }) => lettersList(letters),
  );

  function lettersList(letters) {
    if (!letters.length) return hint(words("ops-dead-letters-none"));
    return el("ul", { class: "ops-letters" }, letters.map(letterItem));
  }

  function letterItem(letter) {
    const { update_id: id, chat, title, reason, attempts, age_s: age } = letter;
    const buttons = el(
      "div",
      { class: "ops-letter-buttons" },
      action("ops-trace", "trace-letter", () => trace.show(id)),
      action("ops-retry", "retry-letter", () => settle("retry")),
      action("ops-drop", "drop-letter", () => settle("drop"), "danger"),
    );
    return el(
      "li",
      { class: "ops-letter", "data-testid": "dead-letter" },
      el("p", { class: "ops-letter-title" }, name(title || chat || words("ops-chat-unknown"), { dir: "auto" }), el("small", null, words("ops-update", { id: String(id) }))),
      el("p", { class: "ops-letter-reason" }, el("bdi", null, reason || words("ops-no-reason"))),
      el("p", { class: "ops-hint" }, `${words("ops-attempts", { count: attempts })} · ${words("ops-ago", { time: duration(age) })}`),
      buttons,
    );

    function action(key, testId, onclick, tone = "plain") {
      const label = words("ops-action", { action: words(key), id: String(id) });
      return button({ class: `button small ${tone}`, "data-testid": testId, "aria-label": label, onclick }, words(key));
    }
    async function settle(deed) {
      if (deed === "drop" && !(await confirmed(dropQuestion(id)))) return;
      for (const each of buttons.children) each.disabled = true;
      try {
        const { done } = await api.post(`operations/dead-letters/${id}/${deed}`);
        status.textContent = outcomeOf(id, deed, done);
        await place.load();
      } catch (error) {
        status.textContent = words("ops-update-failed", { id: String(id), text: sentence(error) });
        for (const each of buttons.children) each.disabled = false;
      }
    }
  }

  return {
    element: el(
      "div",
      { class: "ops-tab ops-columns" },
      card(words("ops-dead-letters"), { id: "dead-letters" }, status, place.element),
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
    title: words("ops-drop-title", { id: String(id) }),
    text: words("ops-drop-text"),
    action: words("ops-drop"),
  };
}

function outcomeOf(id, deed, isDone) {
  return words("ops-settled", { kind: isDone ? deed : "gone", id: String(id) });
}
