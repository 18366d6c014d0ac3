// The reminders of a context: their next dates on the clock of their zones, their repetitions, and how to delete one.
import { el, fill, icon, iconButton, name } from "./dom.js";
import { confirmForgetReminder } from "./forget.js";
import { dayAndTime, dayAndTimeIn, moment } from "./format.js";
import { contextTitle } from "./people.js";
import { repetitionWords } from "./repetition.js";
import { errorBox, skeleton, stateBox } from "./states.js";
import { pieces, words } from "./words.js";

const OVERDUE_S = 60;

// `path(rest)` leads to the context's part of the API.
export function createReminders({ api, path, context, bot, signal }) {
  const count = el("p", { class: "soft", role: "status", "data-testid": "reminders-count" });
  const title = el("h2", { class: "side-title", tabindex: "-1" }, words("reminders-title"));
  const box = el("div", { class: "reminders-box" });
  const head = el("header", { class: "side-head" }, title, el("p", { class: "soft side-chat" }, name(contextTitle(context))), count);
  const root = el("section", { class: "side-view reminders-view", "aria-label": words("tab-reminders"), "data-testid": "reminders" }, head, box);
  let reminders = null;
  let isLoading = false;

  // Called when the reminders come into view.
  function open() {
    if (reminders !== null) refresh();
    else if (!isLoading && isVisible()) load();
  }

  // Reads the reminders again, unless they are out of view or somebody is at work on them.
  async function refresh() {
    if (reminders === null || isLoading || !isVisible() || isBusy()) return;
    const found = await read().catch(() => null);
    if (found && !isBusy()) show(found);
  }

  const isVisible = () => root.checkVisibility({ visibilityProperty: true });
  const isBusy = () => box.contains(document.activeElement) || document.querySelector("dialog[open]") !== null;

  async function load() {
    fill(box, skeleton(4));
    try {
      show(await read());
    } catch (error) {
      if (error.name !== "AbortError") fill(box, errorBox(error, { retry: load }));
    }
  }

  async function read() {
    isLoading = true;
    try {
      return (await api.get(path("reminders"), { signal })).reminders;
    } finally {
      isLoading = false;
    }
  }

  function show(found) {
    reminders = found;
    count.textContent = found.length > 0 ? words("reminders", { count: found.length }) : "";
    if (found.length === 0) fill(box, stateBox(emptyState(context, bot)));
    else fill(box, el("ul", { class: "card" }, found.map((reminder) => reminderEntry(reminder, context, askForget))));
  }

  async function askForget(reminder) {
    const isDone = await confirmForgetReminder(reminder, () => api.delete(path(`reminders/${encodeURIComponent(reminder.id)}`)));
    if (isDone) drop(reminder.id);
  }

  function drop(id) {
    const at = reminders.findIndex((reminder) => reminder.id === id);
    if (at === -1) return;
    show(reminders.toSpliced(at, 1));
    const buttons = [...box.querySelectorAll("[data-testid=reminder]")].slice(at).map((node) => node.querySelector("button"));
    (buttons.find(Boolean) ?? title).focus();
  }

  return { root, open, refresh };
}

function emptyState({ kind }, bot) {
  const text = words("reminders-none", { kind, bot: `@${bot.username}` });
  return { picture: "reminders", title: words("reminders-none-title"), text };
}

function reminderEntry(reminder, context, askForget) {
  return el(
    "li",
    { class: "reminder", "data-testid": "reminder", "data-id": reminder.id },
    el(
      "div",
      { class: "reminder-body" },
      el("p", { class: "reminder-text", dir: "auto", "data-testid": "reminder-text" }, reminder.text),
      duePart(reminder),
      reminder.repeats && el("p", { class: "reminder-about", "data-testid": "reminder-repeats" }, icon("retry"), repetitionWords(reminder)),
      aboutPart(reminder, context),
    ),
    reminder.may_cancel &&
      iconButton("eraser", words("forget-reminder"), { class: "danger", onclick: () => askForget(reminder), "data-testid": "forget-reminder" }),
  );
}

function duePart({ due_at: dueAt, zone }) {
  const [there, here] = [clockOf(dueAt, zone), dayAndTimeIn(dueAt)];
  const isOverdue = dueAt < Date.now() / 1000 - OVERDUE_S;
  const isElsewhere = there !== null && there !== here;
  return [
    el(
      "p",
      { class: "reminder-due", title: moment(dueAt), "data-testid": "reminder-due" },
      icon("clock"),
      there ?? here,
      isOverdue && el("span", { class: "reminder-mark late", title: words("overdue-hint") }, words("overdue")),
    ),
    el(
      "p",
      { class: "reminder-about", "data-testid": "reminder-zone" },
      name(there === null ? localZone() : zone.replaceAll("_", " ")),
      isElsewhere && [" · ", words("your-time", { moment: dayAndTime(dueAt, { isInside: true }) })],
    ),
  ];
}

// Null for a zone that this browser does not know.
function clockOf(seconds, zone) {
  try {
    return dayAndTimeIn(seconds, zone.replace(/^UTC(?=[+-])/, "")); // "UTC+05:30" is "+05:30" to a browser
  } catch {
    return null;
  }
}

function localZone() {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

// In a private chat nobody needs to read that a reminder is their own.
function aboutPart({ person, is_mine: isMine, runs_agent: runsAgent }, { kind }) {
  const task = runsAgent && el("span", { class: "reminder-mark", title: words("reminder-task-hint") }, icon("spark"), words("reminder-task"));
  const who = isMine ? words("you-inside") : name(person.name || words("somebody-inside"));
  const setBy = (kind === "group" || !isMine) && el("span", null, pieces("set-by", { name: who }));
  return (task || setBy) && el("p", { class: "reminder-about" }, setBy, task);
}
