// The facts of a context: by subject, with those that are no longer true, and how many messages are still unread.
import { button, el, fill, icon, name } from "./dom.js";
import { factEntry } from "./fact.js";
import { confirmForgetFact } from "./forget.js";
import { number } from "./format.js";
import { contextTitle, personAvatar } from "./people.js";
import { errorBox, skeleton, stateBox } from "./states.js";
import { notify } from "./toasts.js";
import { sentence, words } from "./words.js";

const PAGE = 50;
const MOST = 200;

// `path(rest)` leads to the context's part of the API; `openMessage(id)` shows a message in the timeline;
// `onChange()` is called after each change that a person has made here.
export function createFacts({ api, path, context, me, openMessage, onChange, signal }) {
  const count = el("p", { class: "soft", role: "status", "data-testid": "facts-count" });
  const title = el("h2", { class: "side-title", tabindex: "-1" }, words("facts-title"));
  const box = el("div", { class: "fact-groups" });
  const more = button({ class: "button plain", hidden: true, onclick: loadMore, "data-testid": "more-facts" });
  const head = el("header", { class: "side-head" }, title, el("p", { class: "soft side-chat" }, name(contextTitle(context))), count);
  const root = el("section", { class: "side-view facts-view", "aria-label": words("tab-facts"), "data-testid": "facts" }, head, box, more);
  const openFolds = new Set();
  const parts = { me, openMessage, askForget, correct };
  let entries = new Map();
  let answer = null;
  let isLoading = false;
  let changes = 0;

  // Called when the facts come into view.
  function open() {
    if (answer !== null) refresh();
    else if (!isLoading && isVisible()) load();
  }

  // Reads the facts again, unless they are out of view or somebody is at work on them.
  async function refresh() {
    if (answer === null || isLoading || !isVisible() || isBusy()) return;
    const before = changes;
    const found = await read(0, Math.min(MOST, Math.max(PAGE, entries.size))).catch(() => null);
    if (found && before === changes && !isBusy()) show(found, new Map());
  }

  const isVisible = () => root.checkVisibility({ visibilityProperty: true });
  const isBusy = () => box.contains(document.activeElement);

  async function load() {
    fill(box, skeleton(4));
    try {
      show(await read(0, PAGE), new Map());
    } catch (error) {
      if (error.name !== "AbortError") fill(box, errorBox(error, { retry: load }));
    }
  }

  async function loadMore() {
    if (isLoading) return;
    try {
      show(await read(entries.size, PAGE), entries);
      if (more.hidden) title.focus({ preventScroll: true });
    } catch (error) {
      if (error.name !== "AbortError") notify(sentence(error.message));
    }
  }

  async function read(offset, limit) {
    isLoading = true;
    try {
      return await api.get(path(`facts?${new URLSearchParams({ offset, limit })}`), { signal });
    } finally {
      isLoading = false;
    }
  }

  // An entry of a fact that has not changed keeps its node, and so what a person is writing there.
  function show(found, known) {
    answer = found;
    const shown = found.facts.map((fact) => [fact.id, entryOf(fact)]);
    entries = new Map([...known, ...shown]);
    render();
  }

  function entryOf(fact) {
    const known = entries.get(fact.id);
    const isSame = known && JSON.stringify(known.fact) === JSON.stringify(fact);
    return isSame ? known : { fact, node: factEntry(fact, parts) };
  }

  function render() {
    const { total, unread } = answer;
    count.textContent = [total > 0 && words("facts", { count: total }), unread > 0 && words("facts-unread", { count: unread })].filter(Boolean).join(" · ");
    more.hidden = entries.size >= total;
    more.textContent = words("more-facts", { number: total - entries.size });
    if (entries.size === 0) fill(box, stateBox(emptyState(answer, context)));
    else fill(box, offNote(answer), groupsOf([...entries.values()]).map((group) => groupSection(group, openFolds)));
  }

  async function askForget(fact) {
    const isDone = await confirmForgetFact(fact, () => api.delete(path(`facts/${encodeURIComponent(fact.id)}`)));
    if (isDone) drop(fact.id);
  }

  // Rejects with an ApiError.
  async function correct(fact, statement) {
    const { fact: changed } = await api.post(path(`facts/${encodeURIComponent(fact.id)}`), { statement });
    if (changed === null) {
      notify(words("fact-gone"));
      drop(fact.id);
      return;
    }
    changes += 1;
    entries.set(changed.id, { fact: changed, node: factEntry(changed, parts) });
    render();
    entries.get(changed.id).node.querySelector("[data-testid=correct-fact]")?.focus();
    notify(words("fact-corrected"));
    onChange();
  }

  function drop(id) {
    if (!entries.has(id)) return;
    const shown = [...box.querySelectorAll(".fact")].filter((node) => node.checkVisibility());
    const next = shown[shown.indexOf(entries.get(id).node) + 1];
    changes += 1;
    entries.delete(id);
    answer.total -= 1;
    render();
    (next?.querySelector("button") ?? title).focus();
    onChange();
  }

  return { root, open, refresh };
}

function emptyState({ is_offered: isOffered, is_on: isOn }, { kind }) {
  if (!isOffered) return { picture: "facts", title: words("facts-off-title"), text: words("facts-not-offered") };
  if (!isOn) return { picture: "facts", title: words("facts-off-title"), text: words("facts-off", { kind }) };
  return { picture: "facts", title: words("facts-none-title"), text: words("facts-none") };
}

function offNote({ is_offered: isOffered, is_on: isOn }) {
  return !(isOffered && isOn) && el("p", { class: "card padded soft", "data-testid": "facts-off" }, words("facts-stopped"));
}

// Sorts: standing wishes, the reader, people, things. Facts of a group stay newest first.
function groupsOf(entries) {
  const groups = new Map();
  for (const entry of entries) {
    const { fact } = entry;
    const isStanding = fact.kind === "standing" && fact.valid_to === null;
    const rank = isStanding ? -1 : fact.is_me ? 0 : fact.is_person ? 1 : 2;
    const key = isStanding ? "standing" : fact.is_person ? `person ${fact.subject_id}` : `thing ${fact.subject.toLocaleLowerCase()}`;
    if (!groups.has(key)) groups.set(key, { key, rank, fact, entries: [] });
    groups.get(key).entries.push(entry);
  }
  return [...groups.values()].sort((one, other) => one.rank - other.rank || one.fact.subject.localeCompare(other.fact.subject));
}

function groupSection({ key, rank, fact, entries }, openFolds) {
  const open = entries.filter((entry) => entry.fact.valid_to === null);
  const closed = entries.filter((entry) => entry.fact.valid_to !== null);
  const title = rank === -1 ? words("facts-standing") : rank === 0 ? words("you") : fact.subject;
  const face = rank === -1 ? thingAvatar() : fact.is_person ? personAvatar(fact.subject_id, fact.subject) : thingAvatar();
  return el(
    "section",
    { class: "fact-group card", "aria-label": title, "data-testid": "fact-group" },
    el("h3", null, face, name(title)),
    open.length > 0 && el("ul", null, open.map(({ node }) => node)),
    closed.length > 0 && closedFold(key, closed, openFolds),
  );
}

function thingAvatar() {
  return el("span", { class: "avatar thing", "aria-hidden": "true" }, icon("topic"));
}

function closedFold(key, closed, openFolds) {
  const fold = el(
    "details",
    { class: "closed-facts", open: openFolds.has(key), "data-testid": "closed-facts" },
    el("summary", null, words("no-longer-true"), el("span", { class: "fact-amount" }, number(closed.length))),
    el("ul", null, closed.map(({ node }) => node)),
  );
  fold.addEventListener("toggle", () => openFolds[fold.open ? "add" : "delete"](key));
  return fold;
}
