// The frame of the page: tabs, the list of chats, the open memory, and the operators' part.
import { button, el, fill, icon, name } from "./dom.js";
import { number } from "./format.js";
import { createMemoryView } from "./memory_view.js";
import { contextAvatar, contextTitle, withTitles } from "./people.js";
import { errorBox, spinnerBox, stateBox } from "./states.js";
import { showBackButton } from "./telegram.js";
import { words } from "./words.js";

const ICONS = { memory: "timeline", facts: "facts", reminders: "reminders", overview: "overview", operations: "operations" };
const SIDES = ["overview", "facts", "reminders"];

// `found` is the answer of `contexts`; `reload()` fetches it again. Returns {back, stop}.
export function createFrame(root, { api, found, reload }) {
  const { me, bot } = found;
  let contexts = withTitles(found.contexts);
  const chats = el("nav", { class: "chats", "aria-label": words("chats") });
  // On a wide screen the side has a switch of its own instead of the tabs.
  const sideSwitch = el("nav", { class: "side-switch", "aria-label": words("side-label") });
  const sideContent = el("div", { class: "side-content" });
  const side = el("aside", { class: "side", "aria-label": words("side-label") }, chats, sideSwitch, sideContent);
  const main = el("main", { class: "main" });
  const operations = el("section", { class: "operations", "aria-label": words("tab-operations") });
  const tabs = el("nav", { class: "tabs", "aria-label": words("tabs-label") });
  let view = null;
  let openId = "";
  let operationsPart = null;
  let tab = "";
  let sideKind = "overview";
  const scrolledTo = new Map();

  function openTab(wanted) {
    tab = wanted;
    root.dataset.tab = tab;
    renderTabs();
    changed();
    if (SIDES.includes(tab)) openSide(tab);
    if (tab === "operations") openOperations();
    else operationsPart?.stop();
  }

  function openSide(wanted) {
    scrolledTo.set(sideKind, side.scrollTop);
    sideKind = wanted;
    root.dataset.side = sideKind;
    fill(sideSwitch, view && SIDES.map(sideButton));
    side.scrollTop = scrolledTo.get(sideKind) ?? 0;
    view?.showSide(sideKind);
  }

  function sideButton(kind) {
    const props = { class: "side-button", "aria-current": kind === sideKind ? "true" : null, "data-testid": `side-${kind}` };
    const open = () => {
      openSide(kind);
      sideSwitch.querySelector("[aria-current]").focus();
    };
    return button({ ...props, onclick: open }, icon(ICONS[kind]), words(`tab-${kind}`));
  }

  function renderTabs() {
    const names = Object.keys(ICONS).filter((kind) => kind !== "operations" || me.is_operator);
    root.classList.toggle("with-operations", me.is_operator);
    fill(tabs, el("span", { class: "brand" }, icon("memory"), name(bot.name)), names.map(tabButton));
  }

  function tabButton(kind) {
    const current = kind === tab ? "page" : null;
    const props = { class: `tab tab-${kind}`, "aria-current": current, "data-testid": `tab-${kind}` };
    return button({ ...props, onclick: () => openTab(kind) }, icon(ICONS[kind]), el("span", null, words(`tab-${kind}`)));
  }

  function openContext(context) {
    view?.stop();
    openId = context.id;
    const openOverview = () => openTab("overview");
    const onCount = () => recount(context.id);
    const openTimeline = () => openTab("memory");
    view = createMemoryView({ api, bot, me, context, openOverview, openTimeline, onChange: changed, onReset: reload, onCount });
    fill(main, view.root);
    fill(sideContent, view.sides);
    scrolledTo.clear();
    side.scrollTop = 0;
    openSide(sideKind);
    showChats(context);
    document.title = `${contextTitle(context)} · ${bot.name}`;
  }

  // Without an answer the old numbers stay.
  async function recount(id) {
    const answer = await api.get("contexts").catch(() => null);
    const known = withTitles(answer?.contexts ?? []);
    const context = known.find((each) => each.id === id);
    if (!context || id !== openId) return;
    contexts = known;
    view.update(context);
    showChats(context);
  }

  function showChats(open) {
    fill(chats, contexts.length > 1 && chatList(open));
  }

  function chatList(open) {
    const items = contexts.map((context) => {
      const props = { class: "chat-row", "aria-current": context === open ? "true" : null, "data-testid": "context" };
      const choose = () => {
        openContext(context);
        openTab("memory");
      };
      const text = el("span", { class: "chat-name" }, el("bdi", null, contextTitle(context)));
      const amount = el("span", { class: "chat-count" }, number(context.messages));
      const isTopic = context.thread_id !== null;
      return el("li", { class: isTopic ? "topic" : "" }, button({ ...props, onclick: choose }, contextAvatar(context), text, amount));
    });
    return [el("h2", null, words("chats")), el("ul", { class: "card" }, items)];
  }

  async function openOperations() {
    if (!operationsPart) {
      fill(operations, spinnerBox());
      try {
        const { operationsView } = await import("./operations.js");
        operationsPart ??= operationsView(api);
      } catch {
        fill(operations, errorBox(new Error(words("bad-answer")), { retry: openOperations }));
        return;
      }
      fill(operations, operationsPart.element);
    }
    if (tab === "operations") operationsPart.start();
  }

  function changed() {
    showBackButton(SIDES.includes(tab) || (tab === "memory" && (view?.canGoBack() ?? false)));
  }

  function back() {
    const dialog = document.querySelector("dialog[open]");
    if (dialog) dialog.close();
    else if (SIDES.includes(tab)) openTab("memory");
    else if (view?.canGoBack()) view.back();
  }

  fill(root, tabs, side, main, operations);
  root.dataset.state = "open";
  const current = contexts.find((context) => context.id === found.current) ?? contexts[0];
  if (current) openContext(current);
  else fill(main, stateBox({ picture: "chat", title: words("no-chat-title"), text: words("no-chat-text") }));
  openTab(current || !me.is_operator ? "memory" : "operations");

  function stop() {
    view?.stop();
    operationsPart?.stop();
  }

  return { back, stop };
}
