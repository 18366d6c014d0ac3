// The round mark with the number of unread messages.
import { el } from "./dom.js";
import { shortCount } from "./format.js";

// Null when there is nothing unread.
export function unreadBadge(count) {
  if (count === 0) return null;
  const props = { class: "badge", "data-testid": "unread", "aria-label": `${count} unread` };
  return el("span", props, shortCount(count));
}
