// The tab "Chats": every chat with what it uses, sortable.

import { button, el, fill, name } from "./dom.js";
import { ago, compact, count, moment, whole } from "./operations_format.js";
import { card, hint, loadedPlace } from "./operations_parts.js";

const ROWS_AT_ONCE = 100;
const COLUMNS = [
  { id: "title", name: "Chat", value: (chat) => titleOf(chat).toLowerCase(), isText: true },
  { id: "messages", name: "Messages", value: (chat) => chat.messages },
  { id: "tokens", name: "Tokens today", value: (chat) => chat.tokens_today ?? 0 },
  { id: "last", name: "Last", value: (chat) => chat.last_at ?? 0 },
];

export function chatsTab(api) {
  const place = loadedPlace(() => api.get("operations/chats"), chatsTable);
  return {
    element: el("div", { class: "ops-tab" }, card("Chats by use", { id: "chats" }, place.element)),
    start: place.load,
    stop() {},
  };
}

const titleOf = (chat) => chat.title || (chat.chat_id === null ? `context ${chat.context.slice(0, 8)}` : `chat ${chat.chat_id}`);

function chatsTable({ chats }) {
  if (!chats.length) return hint("Nobody has talked to the bot yet.");
  let sorting = { column: COLUMNS[1], isDown: true };
  let rowsShown = ROWS_AT_ONCE;
  const body = el("tbody");
  const more = button({ class: "button plain small", "data-testid": "more-chats", onclick: showMore }, "Show more");
  const heads = COLUMNS.map((column) =>
    el(
      "th",
      { scope: "col", class: column.isText ? "" : "number" },
      button({ class: "ops-sort", "data-testid": `sort-${column.id}`, onclick: () => sortBy(column) }, column.name),
    ),
  );

  function showMore() {
    rowsShown += ROWS_AT_ONCE;
    render();
  }
  function sortBy(column) {
    sorting = { column, isDown: column === sorting.column ? !sorting.isDown : !column.isText };
    render();
  }
  function render() {
    heads.forEach((head, at) => {
      const isSorted = COLUMNS[at] === sorting.column;
      head.setAttribute("aria-sort", isSorted ? (sorting.isDown ? "descending" : "ascending") : "none");
    });
    fill(body, sorted(chats, sorting).slice(0, rowsShown).map(chatRow));
    more.hidden = rowsShown >= chats.length;
  }
  render();
  const table = el(
    "table",
    { class: "ops-table", "aria-label": "Chats by use" },
    el("thead", null, el("tr", null, heads)),
    body,
  );
  return [hint(count(chats.length, "chat")), table, more];
}

function sorted(chats, { column, isDown }) {
  const sign = isDown ? -1 : 1;
  const compare = column.isText ? (a, b) => a.localeCompare(b) : (a, b) => a - b;
  return [...chats].sort((one, other) => sign * compare(column.value(one), column.value(other)));
}

function chatRow(chat) {
  const topic = chat.thread_id === null ? "" : ` · topic ${chat.thread_id}`;
  const detail = `${chat.kind}${chat.chat_id === null ? "" : ` · ${chat.chat_id}`}${topic}`;
  return el(
    "tr",
    { "data-testid": "chat-row" },
    el("th", { scope: "row" }, name(titleOf(chat), { dir: "auto" }), el("small", null, detail)),
    el("td", { class: "number" }, compact(chat.messages)),
    el("td", { class: "number" }, el("span", { title: whole(chat.tokens_today) }, compact(chat.tokens_today))),
    el("td", { class: "number" }, el("span", { title: moment(chat.last_at) }, ago(chat.last_at))),
  );
}
