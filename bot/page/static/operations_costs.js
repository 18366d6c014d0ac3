// The tab "Costs": the people and chats that cost most in a month, and its sum.

import { el, fill, name } from "./dom.js";
import { compact, money, percent, whole } from "./operations_format.js";
import { card, hint, loadedPlace } from "./operations_parts.js";

export function costsTab(api) {
  const choice = el("select", { class: "ops-input", "aria-label": "Month", "data-testid": "costs-month", hidden: true });
  let month = "";
  const place = loadedPlace(
    () => api.get(`operations/costs${month && `?month=${month}`}`),
    (costs) => {
      fill(choice, costs.months.map((each) => el("option", { value: each, selected: each === costs.month }, each)));
      choice.hidden = false;
      return monthOf(costs);
    },
  );
  choice.addEventListener("change", () => {
    month = choice.value;
    place.load();
  });
  return {
    element: el("div", { class: "ops-tab" }, card("Costs of a month", { id: "costs", actions: [choice] }, place.element)),
    start: place.load,
    stop: place.stop,
  };
}

function monthOf(costs) {
  const { total, memory, budget, people, chats, has_prices: isPriced } = costs;
  if (!total.tokens) return hint("Nothing was used in this month (UTC).");
  const share = budget ? `, ${percent(total.money / budget)} of the budget of ${money(budget)}` : "";
  const cost = isPriced ? `, cost ${money(total.money)}${share}` : "";
  const ofMemory = memory.tokens ? ` Summaries and facts took ${compact(memory.tokens)} of them.` : "";
  return [
    hint(`${compact(total.tokens)} tokens${cost}.${ofMemory} Months are of UTC.`, { "data-testid": "costs-total" }),
    spendersTable("People", "person", people, isPriced),
    spendersTable("Chats", "chat", chats, isPriced),
  ];
}

function spendersTable(title, kind, spenders, isPriced) {
  const heads = [title, "Tokens", ...(isPriced ? ["Cost"] : [])];
  const rows = spenders.map(({ id, title: known, tokens, money: cost }) =>
    el(
      "tr",
      { "data-testid": `costs-${kind}` },
      el("th", { scope: "row" }, name(known || `${kind} ${id}`, { dir: "auto", class: "ops-chat-title" }), known && el("small", null, String(id))),
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
