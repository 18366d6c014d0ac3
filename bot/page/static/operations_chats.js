// The tab "Chats": every chat with what it uses, sortable.

import { button, el, fill, name } from "./dom.js";
import { compact, count, idleTime, moment, whole } from "./operations_format.js";
import { card, hint, loadedPlace } from "./operations_parts.js";

const COLUMNS = [
  { id: "title", name: "Chat", value: (chat) => titleOf(chat).toLowerCase(), isText: true, isUpFirst: true },
  { id: "messages", name: "Messages", value: (chat) => chat.messages },
  { id: "tokens", name: "Tokens today", value: (chat) => chat.tokens_today ?? 0 },
  { id: "idle", name: "Idle", value: (chat) => -(chat.last_at ?? 0), isUpFirst: true },
];

export function chatsTab(api) {
  const place = loadedPlace(() => api.get("operations/chats"), chatsTable);
  return {
    element: el("div", { class: "ops-tab" }, card("Chats by use", { id: "chats" }, place.element)),
    start: place.load,
    stop: place.stop,
  };
}

const titleOf = (chat) => chat.title || (chat.chat_id === null ? `context ${chat.context.slice(0, 8)}` : `chat ${chat.chat_id}`);

function chatsTable({ chats }) {
  if (!chats.length) return hint("Nobody has talked to the bot yet.");
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
    { class: "ops-table", "aria-label": "Chats by use" },
    el("thead", null, el("tr", null, heads)),
    body,
  );
  return [hint(`${count(chats.length, "chat")}. The tokens of a chat are those of all its topics, since 00:00 UTC.`), table];
}

function sorted(chats, { column, isDown }) {
  const sign = isDown ? -1 : 1;
  const compare = column.isText ? (a, b) => a.localeCompare(b) : (a, b) => a - b;
  return [...chats].sort((one, other) => sign * compare(column.value(one), column.value(other)));
}

function chatRow(chat) {
  const topic = chat.thread_id === null ? "" : ` · topic ${chat.thread_id}`;
  const detail = `${chat.chat_id === null ? chat.kind : `${chat.kind} ${chat.chat_id}`}${topic}`;
  return el(
    "tr",
    { "data-testid": "chat-row" },
    el("th", { scope: "row" }, name(titleOf(chat), { dir: "auto", class: "ops-chat-title", title: titleOf(chat) }), el("small", null, detail)),
    el("td", { class: "number" }, compact(chat.messages)),
    el("td", { class: "number" }, el("span", { title: whole(chat.tokens_today) }, compact(chat.tokens_today))),
    el("td", { class: "number" }, el("span", { title: moment(chat.last_at) }, idleTime(chat.last_at))),
  );
}
