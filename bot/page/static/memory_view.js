// The memory of one context: its head, search, timeline, selection, overview, facts and reminders.
import { button, el, icon, iconButton } from "./dom.js";
import { shortDay } from "./format.js";
import { confirmForget, confirmReset } from "./forget.js";
import { messageEntry } from "./message.js";
import { createFacts } from "./facts.js";
import { createOverview } from "./overview.js";
import { contextAvatar, contextTitle } from "./people.js";
import { createReminders } from "./reminders.js";
import { createSearch } from "./search.js";
import { createSelectionBar, MOST, Selection } from "./selection.js";
import { Timeline } from "./timeline.js";
import { words } from "./words.js";

const HITS = 20;
const REFRESH_MS = 15_000;

// `parts`: api, bot, me, context, openOverview(), openTimeline(), onChange() after each change of `canGoBack`, onReset()
// after a reset, and onCount() when the number of messages has changed; then the caller calls `update` with the new
// document.
export function createMemoryView({ api, bot, me, context, openOverview, openTimeline, onChange, onReset, onCount }) {
  const run = new AbortController();
  const { signal } = run;
  const path = (rest) => `contexts/${encodeURIComponent(context.id)}/${rest}`;
  const receipts = new Map();

  const selection = new Selection(render);
  const entryParts = { bot, selection, loadReceipt, openMessage, askForget };
  const timeline = new Timeline({
    load: (query, ended) => api.get(path(`messages?${new URLSearchParams(defined(query))}`), { signal: ended }),
    entry: (message, follows) => messageEntry(message, follows, entryParts),
    label: words("timeline-label", { title: contextTitle(context) }),
    empty: { picture: "memory", title: words("empty-title"), text: words("empty-text", { bot: bot.name }) },
  });
  const search = createSearch({
    search: (query, ended) => api.get(path(`search?${new URLSearchParams({ q: query, k: HITS })}`), { signal: ended }),
    bot,
    selection,
    openMessage,
    onChange: () => {
      isFollowingHit = false;
      render();
    },
  });
  let isFollowingHit = false;

  const select = iconButton("select", words("select"), { "data-testid": "select", "aria-pressed": "false" });
  select.addEventListener("click", () => (selection.isActive ? selection.end() : selection.begin()));
  const backToHits = button({ class: "back-to-hits text-button", hidden: true, onclick: back }, icon("search"), words("back-to-hits"));
  const bar = createSelectionBar(selection, { forget: askForget, hits: search.forgettable });
  const hint = el("span", { class: "head-hint" }, rememberedText(context));
  const head = el("header", { class: "head" }, headTitle(context, hint, openOverview), select, search.form);
  const root = el("div", { class: "memory" }, head, backToHits, el("div", { class: "stage" }, timeline.root, search.root), bar.root);
  const overviewParts = { about: bot, reset: askReset, openMessage: openSource, askForget };
  const overview = createOverview({ api, path, context, ...overviewParts, signal });
  const facts = createFacts({ api, path, context, me, openMessage: openSource, onChange: () => receipts.clear(), signal });
  const reminders = createReminders({ api, path, context, bot, signal });
  const lists = { facts, reminders };

  async function loadReceipt(id) {
    if (!receipts.has(id)) receipts.set(id, await api.get(path(`receipts/${encodeURIComponent(id)}`), { signal }));
    return receipts.get(id);
  }

  function openMessage(message) {
    isFollowingHit = !search.root.hidden;
    search.hide();
    render();
    timeline.goTo(message.id);
  }

  // On a phone the facts cover the timeline.
  function openSource(id) {
    openTimeline();
    openMessage({ id });
  }

  async function askForget(messages) {
    const ids = messages.map((message) => message.id);
    const gone = new Set();
    const isDone = await confirmForget(messages, bot, async (chosen = ids) => {
      const now = chosen.slice(0, MOST);
      const answer = await api.post(path("forget"), { message_ids: now });
      for (const id of now) gone.add(id);
      return { ...answer, used_by: [...chosen.slice(MOST), ...answer.used_by] };
    });
    if (!isDone) return;
    receipts.clear();
    timeline.remove(gone);
    search.remove(gone);
    selection.end();
    // The focused message may have gone with the others.
    if (document.activeElement === document.body) select.focus();
    onCount();
    facts.refresh();
    overview.refresh();
  }

  async function askReset() {
    if (await confirmReset(context, () => api.post(path("reset")))) onReset();
  }

  function canGoBack() {
    return isFollowingHit || selection.isActive || !search.root.hidden;
  }

  function back() {
    if (selection.isActive) selection.end();
    else if (isFollowingHit) {
      isFollowingHit = false;
      search.show();
      render();
    } else search.reset();
  }

  function render() {
    select.setAttribute("aria-pressed", String(selection.isActive));
    backToHits.hidden = !isFollowingHit;
    timeline.root.hidden = !search.root.hidden;
    selection.sync(root);
    bar.render();
    onChange();
  }

  async function refresh() {
    if (document.visibilityState !== "visible") return;
    for (const list of Object.values(lists)) list.refresh();
    if (await timeline.refresh()) onCount();
  }

  function update(changed) {
    context = changed;
    hint.textContent = rememberedText(context);
    overview.update(context);
  }

  const timer = setInterval(refresh, REFRESH_MS);
  document.addEventListener("visibilitychange", refresh, { signal });
  timeline.start();

  function stop() {
    run.abort();
    clearInterval(timer);
    timeline.stop();
  }

  const sides = [overview, facts, reminders].map((side) => side.root);
  return { root, sides, showSide: (kind) => lists[kind]?.open(), canGoBack, back, update, stop };
}

function rememberedText({ messages, since }) {
  if (messages === 0 || since === null) return words("messages", { count: messages });
  return words("remembered-since", { count: messages, day: shortDay(since) });
}

function headTitle(context, hint, openOverview) {
  return button(
    { class: "head-title", onclick: openOverview, "data-testid": "title" },
    contextAvatar(context),
    el(
      "span",
      { class: "head-text" },
      el("span", { class: "head-name" }, el("bdi", null, contextTitle(context))),
      hint,
    ),
    icon("next"),
  );
}

function defined(query) {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}
