// The small parts of a bubble: sender, forward and quote lines, time and ticks, reactions.
import { personTone } from "./avatar.js";
import { button, el, icon } from "./dom.js";
import { fullDate, timeOfDay } from "./format.js";
import { senderName } from "./places.js";
import { previewText } from "./preview_text.js";

export function senderLine(state, { message, isGroup, isOwn, first }) {
  if (!isGroup || isOwn || !first) return null;
  const sender = message?.from ?? state.bot;
  const role = roleOf(state, message, sender);
  const name = el("span", { class: "sender-name" }, senderName(state, sender));
  const mark = role && el("span", { class: "sender-role" }, role);
  return el("div", { class: `sender ink-${personTone(state, sender)}` }, name, mark);
}

export function forwardLine(state, { forward_origin: origin }) {
  if (!origin) return null;
  const user = origin.sender_user && senderName(state, origin.sender_user);
  const chat = origin.sender_chat ?? origin.chat;
  const name = user ?? origin.sender_user_name ?? chat?.title ?? "someone";
  return el("div", { class: "forward" }, "Forwarded from ", el("strong", null, name));
}

export function viaLine({ via_bot: bot }) {
  return bot ? el("div", { class: "forward", "data-testid": "via" }, "via ", el("strong", null, `@${bot.username}`)) : null;
}

// `quote`: the selected part of the quoted message, if there is one.
export function quoteButton(state, { quoted, quote }, actions) {
  if (!quoted) return null;
  const props = {
    class: `quote ink-${personTone(state, quoted.from)}`,
    "data-testid": "reply-quote",
    "data-focus": "quote",
    title: "Show this message",
    onclick: () => actions.jumpTo(quoted),
  };
  const author = el("span", { class: "quote-name" }, senderName(state, quoted.from));
  const text = quote?.text ?? previewText(state, quoted);
  return button(props, author, el("span", { class: "quote-text", dir: "auto" }, text));
}

export function timeMeta({ message, isOwn, isDelivered }) {
  const { date, edit_date: editDate } = message;
  const edited = editDate ? el("span", { class: "edited", title: fullDate(editDate) }, "edited") : null;
  const iso = new Date(date * 1000).toISOString();
  const time = el("time", { datetime: iso, title: fullDate(date) }, timeOfDay(date));
  const mark = isDelivered ? ticks("checks", "Delivered to the bot") : ticks("check", "Sent");
  return el("span", { class: "meta" }, edited, time, isOwn && mark);
}

export function ticks(name, label) {
  const props = { class: "ticks", role: "img", "aria-label": label, title: label, "data-testid": "ticks" };
  return el("span", props, icon(name));
}

// A press on a chip adds the same reaction, or removes the own one.
export function reactionRow(state, { message, reactions: byUser }, actions) {
  if (!byUser || byUser.size === 0) return null;
  const counts = new Map();
  for (const emoji of [...byUser.values()].flat()) counts.set(emoji, (counts.get(emoji) ?? 0) + 1);
  const own = byUser.get(state.view.personId) ?? [];
  const chips = [...counts].map(([emoji, count]) => {
    const isOwn = own.includes(emoji);
    const props = {
      class: "reaction",
      "data-testid": "reaction",
      "data-focus": `reaction-${emoji}`,
      "aria-pressed": String(isOwn),
    };
    const press = () => actions.react(message, isOwn ? null : emoji);
    return button({ ...props, onclick: press }, emoji, count > 1 && el("b", null, String(count)));
  });
  return el("div", { class: "reactions" }, chips);
}

function roleOf(state, message, sender) {
  if (sender.id === state.bot.id) return "bot";
  const chat = message && state.chats.get(message.chat.id);
  return chat?.admins?.includes(sender.id) ? "admin" : null;
}
