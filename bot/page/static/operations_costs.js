// The tab "Costs": the people and chats that cost most in a month, and its sum.

import { el, fill, name } from "./dom.js";
import { compact, money, month as monthName, percent, whole } from "./operations_format.js";
import { card, hint, loadedPlace } from "./operations_parts.js";
import { words } from "./words.js";

export function costsTab(api) {
  const choice = el("select", { class: "ops-input", "aria-label": words("ops-month"), "data-testid": "costs-month", hidden: true });
  let month = "";
  const place = loadedPlace(
    () => api.get(`operations/costs${month && `?month=${month}`}`),
    (costs) => {
      fill(choice, costs.months.map((each) => el("option", { value: each, selected: each === costs.month }, monthName(each))));
      choice.hidden = false;
      return monthOf(costs);
    },
  );
  choice.addEventListener("change", () => {
    month = choice.value;
    place.load();
  });
  return {
    element: el("div", { class: "ops-tab" }, card(words("ops-costs-of-month"), { id: "costs", actions: [choice] }, place.element)),
    start: place.load,
    stop: place.stop,
  };
}

function monthOf(costs) {
  const { total, memory, budget, people, chats, has_prices: isPriced } = costs;
  if (!total.tokens) return hint(words("ops-costs-none"));
  const share = { share: percent(total.money / budget), budget: money(budget) };
  const cost = { tokens: whole(total.tokens), cost: money(total.money), ...share };
  const sentences = [
    words(`ops-costs-total${isPriced ? (budget ? "-budget" : "-cost") : ""}`, cost),
    memory.tokens && words("ops-costs-memory", { tokens: whole(memory.tokens) }),
    words("ops-costs-months"),
  ];
  return [
    hint(sentences.filter(Boolean).join(" "), { "data-testid": "costs-total" }),
    spendersTable(words("ops-people"), "person", people, isPriced),
    spendersTable(words("chats"), "chat", chats, isPriced),
  ];
}

function spendersTable(title, kind, spenders, isPriced) {
  const heads = [title, words("ops-tokens"), ...(isPriced ? [words("fact-cost")] : [])];
  const rows = spenders.map(({ id, title: known, tokens, money: cost }) =>
    el(
      "tr",
      { "data-testid": `costs-${kind}` },
      el("th", { scope: "row" }, name(known || words(`ops-${kind}-id`, { id: String(id) }), { dir: "auto", class: "ops-chat-title" }), known && el("small", null, String(id))),
      el("td", { class: "number" }, el("span", { title: whole(tokens) }, compact(tokens))),
      isPriced && el("td", { class: "number" }, money(cost)),
    ),
  );
  return el(
    "table",
    { class: "ops-table", "aria-label": title },
    el("thead", null, el("tr", null, heads.map((head, at) => el("th", { scope: "col", class: at ? "number" : "" }, head)))),
    el("tbody", null, rows),
  );
}
