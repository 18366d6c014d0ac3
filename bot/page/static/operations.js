// The operators' page: its tabs, of which the chosen one works while the page is shown.

import { button, el } from "./dom.js";
import { chatsTab } from "./operations_chats.js";
import { costsTab } from "./operations_costs.js";
import { nowTab } from "./operations_now.js";
import { serviceTab } from "./operations_service.js";
import { updatesTab } from "./operations_updates.js";
import { isRightToLeft } from "./language.js";
import { words } from "./words.js";

const TABS = [
  { id: "now", name: words("ops-tab-now"), create: nowTab },
  { id: "chats", name: words("ops-tab-chats"), create: chatsTab },
  { id: "costs", name: words("ops-tab-costs"), create: costsTab },
  { id: "updates", name: words("ops-tab-updates"), create: updatesTab },
  { id: "service", name: words("ops-tab-service"), create: serviceTab },
];

// Builds the page: {element, start(), stop()}. Nothing is requested before `start` or after `stop`.
// `api` has get(path) and post(path, body), with paths below /app/api/; they resolve to the document, or
// reject with an Error that has the API's `code` and `message`.
export function operationsView(api) {
  const panel = el("div", { class: "ops-panel", role: "tabpanel", id: "ops-panel" });
  const list = el("div", { class: "ops-tabs", role: "tablist", "aria-label": words("tab-operations") });
  const element = el("div", { class: "ops", "data-testid": "operations" }, list, panel);
  const built = new Map();
  let current = "now";
  let isStarted = false;

  const tabOf = (id) => {
    if (!built.has(id)) built.set(id, TABS.find((tab) => tab.id === id).create(api, show));
    return built.get(id);
  };

  // Shows a tab. `focus` moves the keyboard to its button.
  function show(id, { focus = false } = {}) {
    if (isStarted && id !== current) tabOf(current).stop();
    const isNew = id !== current || !panel.hasChildNodes();
    current = id;
    for (const each of list.children) {
      const isChosen = each.dataset.tab === id;
      each.setAttribute("aria-selected", String(isChosen));
      each.tabIndex = isChosen ? 0 : -1;
      if (isChosen && focus) each.focus();
    }
    if (!isNew) return;
    panel.setAttribute("aria-labelledby", `ops-tab-${id}`);
    panel.replaceChildren(tabOf(id).element);
    list.scrollIntoView({ block: "nearest" });
    if (isStarted) tabOf(id).start();
  }

  list.append(
    ...TABS.map(({ id, name }) =>
      button(
        {
          role: "tab",
          id: `ops-tab-${id}`,
          "aria-controls": "ops-panel",
          "data-tab": id,
          "data-testid": `ops-tab-${id}`,
          onclick: () => show(id),
        },
        name,
      ),
    ),
  );
  list.addEventListener("keydown", (event) => {
    const forward = isRightToLeft ? "ArrowLeft" : "ArrowRight";
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const step = event.key === forward ? 1 : -1;
    event.preventDefault();
    const at = TABS.findIndex(({ id }) => id === current);
    show(TABS[(at + step + TABS.length) % TABS.length].id, { focus: true });
  });

  return {
    element,
    start() {
      if (isStarted) return;
      show(current);
      isStarted = true;
      tabOf(current).start();
    },
    stop() {
      if (!isStarted) return;
      isStarted = false;
      tabOf(current).stop();
    },
  };
}
