// Search in the open place: finds words in its messages, and goes from the newest hit to older ones.
import { el, iconButton } from "./dom.js";
import { messagesIn, personPlaceKey } from "./places.js";

export function createChatSearch(actions) {
  const opener = iconButton("search", "Search in this chat", { "data-testid": "search-open", onclick: open });
  const input = el("input", {
    type: "search",
    placeholder: "Search in this chat",
    "aria-label": "Search in this chat",
    "data-testid": "search-input",
    enterkeyhint: "search",
    oninput: () => go(0),
  });
  const count = el("span", { class: "search-count", role: "status", "data-testid": "search-count" });
  const older = iconButton("down", "Older hit", { class: "search-older", onclick: () => go(at + 1) });
  const newer = iconButton("down", "Newer hit", { onclick: () => go(at - 1) });
  const end = iconButton("close", "End the search", { onclick: leave });
  const root = el("search", { class: "chat-search" }, input, count, older, newer, end);
  root.hidden = true;
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && event.target === input) go(event.shiftKey ? at - 1 : at + 1);
    else return;
    event.preventDefault();
  });

  let state = null;
  let place = null;
  let at = 0;

  function open() {
    root.hidden = false;
    input.focus();
    input.select();
  }

  function close() {
    root.hidden = true;
    input.value = "";
    showCount(0);
  }

  function leave() {
    close();
    opener.focus();
  }

  // Goes to a hit by its place among the hits, the newest first; after the last one it begins again.
  function go(wanted) {
    const hits = findHits(state, input.value);
    at = hits.length > 0 ? (wanted + hits.length) % hits.length : 0;
    showCount(hits.length);
    if (hits.length > 0) actions.jumpTo(hits[at]);
  }

  function showCount(total) {
    const isBlank = input.value.trim() === "";
    count.textContent = isBlank ? "" : total > 0 ? `${at + 1} of ${total}` : "No hits";
    older.disabled = newer.disabled = total < 2;
  }

  function render(current) {
    const { personId, chatId, topicId } = current.view;
    const key = personPlaceKey(personId, chatId, topicId);
    state = current;
    if (key !== place && !root.hidden) close();
    place = key;
  }

  return { opener, root, render };
}

// Messages with all words of the text, the newest first.
function findHits({ view, ...state }, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hasAll = ({ text: said, caption }) => {
    const lower = (said ?? caption ?? "").toLowerCase();
    return words.every((word) => lower.includes(word));
  };
  return messagesIn(state, view.chatId, view.topicId).filter(hasAll).reverse();
}
