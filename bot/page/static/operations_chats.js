// The tab "Chats": every chat with what it uses, sortable.

import { button, el, fill, name } from "./dom.js";
import { compact, idleTime, moment, whole } from "./operations_format.js";
import { card, hint, loadedPlace } from "./operations_parts.js";
import { words } from "./words.js";

const lastAt = ({ last_message_at: at }) => at && Date.parse(at) / 1000;
const COLUMNS = [
  { id: "title", name: words("ops-chat"), value: (chat) => titleOf(chat).toLowerCase(), isText: true, isUpFirst: true },
  { id: "messages", name: words("ops-messages"), value: (chat) => chat.messages },
  { id: "tokens", name: words("ops-tokens-today"), value: (chat) => chat.tokens_today ?? 0 },
  { id: "idle", name: words("ops-idle"), value: (chat) => -(lastAt(chat) ?? 0), isUpFirst: true },
];

export function chatsTab(api) {
  const place = loadedPlace(() => api.get("operations/chats"), chatsTable);
  return {
    element: el("div", { class: "ops-tab" }, card(words("ops-chats-by-use"), { id: "chats" }, place.element)),
    start: place.load,
    stop: place.stop,
  };
}

const titleOf = ({ title, chat_id: id, context }) =>
  title || (id === null ? words("ops-context", { id: context.slice(0, 8) }) : words("ops-chat-id", { id: String(id) }));

function chatsTable({ chats }) {
  if (!chats.length) return hint(words("ops-chats-none"));
  let sorting = { column: COLUMNS[2], isDown: true };
  const body = el("tbody");
  const heads = COLUMNS.map((column) =>
    el(
      "th",
      { scope: "col", class: column.isText ? "" : "number" },
      button({ class: "ops-sort", "data-testid": `sort-${column.id}`, onclick: () => sortBy(column) }, column.name),
    ),
  );

  function sortBy(column) {
    sorting = { column, isDown: column === sorting.column ? !sorting.isDown : !column.isUpFirst };
    render();
  }
  function render() {
    heads.forEach((head, at) => {
      const isSorted = COLUMNS[at] === sorting.column;
      head.setAttribute("aria-sort", isSorted ? (sorting.isDown ? "descending" : "ascending") : "none");
    });
    fill(body, sorted(chats, sorting).map(chatRow));
  }
  render();
  const table = el(
    "table",
    { class: "ops-table", "aria-label": words("ops-chats-by-use") },
    el("thead", null, el("tr", null, heads)),
    body,
  );
  return [hint(words("ops-chats-hint", { count: chats.length })), table];
}

function sorted(chats, { column, isDown }) {
  const sign = isDown ? -1 : 1;
  const compare = column.isText ? (a, b) => a.localeCompare(b) : (a, b) => a - b;
  return [...chats].sort((one, other) => sign * compare(column.value(one), column.value(other)));
}

function chatRow(chat) {
  const id = chat.chat_id === null ? "" : String(chat.chat_id);
  const topic = chat.thread_id !== null && words("ops-topic", { id: String(chat.thread_id) });
  const detail = [words("ops-kind", { kind: chat.kind }), id, topic].filter(Boolean).join(" · ");
  return el(
    "tr",
    { "data-testid": "chat-row" },
    el("th", { scope: "row" }, name(titleOf(chat), { dir: "auto", class: "ops-chat-title", title: titleOf(chat) }), el("small", null, detail)),
    el("td", { class: "number" }, compact(chat.messages)),
    el("td", { class: "number" }, el("span", { title: whole(chat.tokens_today) }, compact(chat.tokens_today))),
    el("td", { class: "number" }, el("span", { title: moment(lastAt(chat)) }, idleTime(lastAt(chat)))),
  );
}
