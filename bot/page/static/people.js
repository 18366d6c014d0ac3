// Names and round pictures of the people of a chat; each keeps its own colour.
import { el, icon, name } from "./dom.js";
import { initials } from "./format.js";
import { hasWords, pieces, words } from "./words.js";

const INKS = 8;

export function isBots(message) {
  return message.role === "assistant";
}

export function senderName(message, bot) {
  if (isBots(message)) return bot.name;
  if (message.is_mine) return words("you");
  return message.sender?.name || words("unknown-sender");
}

// The line about whose words a text is; nothing if its sender has typed or spoken it.
export function originOf({ role, origin, forwarded_from: author, imported_from: service }) {
  if ((role !== "user" && !service) || !hasWords(`origin-${origin}`)) return null;
  const whose = author ? pieces("forwarded-from", { name: name(author) }) : words(`origin-${origin}`, { service });
  return el("p", { class: "entry-origin", "data-testid": "origin" }, icon("forward"), el("span", null, whose));
}

export function inkOf(message) {
  return isBots(message) ? "ink-bot" : personInk(message.sender?.id);
}

export function personAvatar(id, name) {
  return el("span", { class: `avatar ${personInk(id)}`, "aria-hidden": "true" }, initials(name));
}

export function senderAvatar(message) {
  if (!isBots(message)) return personAvatar(message.sender?.id, message.sender?.name ?? "");
  return el("span", { class: `avatar ${inkOf(message)}`, "aria-hidden": "true" }, icon("spark"));
}

// The server knows chats by their title, and topics by their number and the title of their chat.
export function contextTitle({ title, kind, thread_id: topic }) {
  const chat = title || (kind === "private" ? words("own-chat") : words("unnamed-group"));
  return topic === null ? chat : words("topic-of", { title: chat, topic: String(topic) });
}

// A context without messages has no title yet: another topic of the same chat may have it.
export function withTitles(contexts) {
  const titles = new Map(contexts.filter(({ title }) => title).map(({ chat_id: id, title }) => [id, title]));
  return contexts.map((context) => ({ ...context, title: titles.get(context.chat_id) ?? "" }));
}

export function contextAvatar(context) {
  const shape = context.kind === "group" ? "forum" : "";
  const face = context.thread_id === null ? initials(contextTitle(context)) : icon("topic");
  return el("span", { class: `avatar large ${shape} ${personInk(context.chat_id)}`, "aria-hidden": "true" }, face);
}

function personInk(id) {
  return `ink-${Math.abs(id ?? 0) % INKS}`;
}
