// Draws round pictures with initials; each person and chat keeps its own colour.
import { el } from "./dom.js";
import { fullName, initials } from "./format.js";
import { chatTitle, isPrivate } from "./places.js";

const TONES = 8;

export function personAvatar(state, user, size = "") {
  const isBot = user?.id === state.bot.id;
  const tone = isBot ? "bot" : personTone(state, user);
  return el(
    "span",
    { class: `avatar ${size} tone-${tone}`, "aria-hidden": "true" },
    initials(fullName(user ?? {}) || "?"),
  );
}

export function chatAvatar(state, chat) {
  if (isPrivate(chat)) return personAvatar(state, state.bot);
  const shape = chat.is_forum ? "forum" : "";
  return el(
    "span",
    { class: `avatar ${shape} tone-${chatTone(state, chat)}`, "aria-hidden": "true" },
    initials(chatTitle(state, chat)),
  );
}

export function personTone(state, user) {
  if (user?.id === state.bot.id) return "bot";
  return Math.abs(user?.id ?? 0) % TONES;
}

function chatTone(state, chat) {
  const sum = [...chatTitle(state, chat)].reduce((total, letter) => total + letter.codePointAt(0), 0);
  return (sum + 5) % TONES;
}
