// Names and round pictures of the people of a chat; each keeps its own colour.
import { el, icon } from "./dom.js";
import { initials } from "./format.js";
import { words } from "./words.js";

const INKS = 8;

export function isBots(message) {
  return message.role === "assistant";
}

export function senderName(message, bot) {
  if (isBots(message)) return message.sender?.name || bot.username;
  if (message.is_mine) return words.you;
  return message.sender?.name || words.unknownSender;
}

export function inkOf(message) {
  return isBots(message) ? "ink-bot" : `ink-${Math.abs(message.sender?.id ?? 0) % INKS}`;
}

export function senderAvatar(message) {
  const face = isBots(message) ? icon("spark") : initials(message.sender?.name ?? "");
  return el("span", { class: `avatar ${inkOf(message)}`, "aria-hidden": "true" }, face);
}

// Chats and topics whose title nobody has told us yet have a name of ours.
export function contextTitle(context) {
  if (context.title) return context.title;
  if (context.thread_id !== null) return words.unnamedTopic(context.thread_id);
  return context.kind === "private" ? words.ownChat : words.unnamedGroup;
}

export function contextAvatar(context) {
  const shape = context.kind === "group" ? "forum" : "";
  const ink = `ink-${Math.abs(context.chat_id ?? 0) % INKS}`;
  const face = context.thread_id === null ? initials(contextTitle(context)) : icon("topic");
  return el("span", { class: `avatar large ${shape} ${ink}`, "aria-hidden": "true" }, face);
}
