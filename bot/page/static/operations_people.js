// The card that forgets a person everywhere: counts by chat first, then a question, progress and the signed receipt.

import { button, el, fill, name } from "./dom.js";
import { card, confirmed, hint, problem, repeated } from "./operations_parts.js";
import { words } from "./words.js";

const EVERY_S = 1;

// Returns {element, stop()}.
export function forgetPersonCard(api) {
  let person = "";
  const result = el("div", { class: "ops-place", "data-testid": "person-result", "aria-live": "polite" });
  const input = el("input", {
    class: "ops-input",
    inputmode: "numeric",
    pattern: "[0-9]{1,19}",
    required: true,
    placeholder: words("ops-forget-id"),
    "aria-label": words("ops-forget-id"),
    "data-testid": "person-id",
  });
  const count = button({ class: "button plain small", type: "submit", "data-testid": "person-count" }, words("ops-person-count"));
  const progress = repeated(look, EVERY_S);

  async function look() {
    try {
      show(await api.get(`operations/people/${person}`));
      return true;
    } catch (error) {
      progress.stop();
      fill(result, problem(error, look));
      return false;
    }
  }

  function show({ chats, is_running: isRunning, done, of, receipt }) {
    if (isRunning) {
      fill(result, el("p", { role: "status" }, el("span", { class: "spinner" }), words("ops-person-running", { done, of })));
      return;
    }
    progress.stop();
    const rows = chats.map(({ chat, ...counts }) =>
      el("li", { class: "ops-row" }, el("span", { class: "ops-row-main" }, name(chat, { dir: "auto" })), el("span", { class: "ops-row-end" }, words("ops-person-things", { count: sum(counts) }))),
    );
    const forget = button({ class: "button danger small", "data-testid": "person-forget", onclick: ask }, words("ops-person-forget"));
    fill(
      result,
      receipt && [hint(words("ops-person-done")), receiptOf(receipt)],
      rows.length ? [el("ul", { class: "ops-rows" }, rows), forget] : !receipt && hint(words("ops-person-none")),
    );
  }

  function receiptOf(receipt) {
    const address = `data:application/json;charset=utf-8,${encodeURIComponent(receipt)}`;
    return [
      el("a", { class: "button plain small", href: address, download: `erasure-${person}.json` }, words("ops-person-save")),
      el("pre", { class: "mono", "data-testid": "person-receipt", dir: "ltr" }, receipt),
    ];
  }

  async function ask() {
    const question = { title: words("ops-person-title", { id: person }), text: words("ops-person-text"), action: words("ops-person-forget") };
    if (!(await confirmed(question))) return;
    try {
      await api.post(`operations/people/${person}/forget`);
      progress.start();
    } catch (error) {
      fill(result, problem(error));
    }
  }

  const form = el(
    "form",
    {
      class: "ops-form",
      onsubmit(event) {
        event.preventDefault();
        person = input.value.trim();
        look();
      },
    },
    input,
    count,
  );
  return { element: card(words("ops-person"), { id: "person" }, hint(words("ops-person-hint")), form, result), stop: progress.stop };
}

const sum = (counts) => Object.values(counts).reduce((all, each) => all + each, 0);
