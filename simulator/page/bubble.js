// Draws the rows of the timeline: a message, a line being sent, a growing draft, a service message.
import { personAvatar } from "./avatar.js";
import { forwardLine, quoteButton, reactionRow, senderLine, ticks, timeMeta, viaLine } from "./bubble_parts.js";
import { el, icon } from "./dom.js";
import { fullDate, timeOfDay } from "./format.js";
import { inlineKeyboard } from "./inline_keyboard.js";
import { mediaOf } from "./media.js";
import { failureBox, messageTools } from "./message_tools.js";
import { senderName } from "./places.js";
import { renderText } from "./render_text.js";

const EMOJI = String.raw`\p{Extended_Pictographic}`;
const ONLY_EMOJI = new RegExp(`^(?:${EMOJI}(?:\\uFE0F|\\u200D${EMOJI}|\\p{Emoji_Modifier})*){1,3}$`, "u");

export function renderMessage(state, entry, actions) {
  const { message, quoted } = entry;
  const isLarge = (ONLY_EMOJI.test(message.text ?? "") || message.sticker || message.dice) && !quoted;
  const media = mediaOf(message);
  const bubble = el(
    "div",
    { class: `bubble${isLarge ? " large" : ""}${media ? " has-media" : ""}` },
    senderLine(state, entry),
    forwardLine(state, message),
    viaLine(message),
    quoteButton(state, { quoted, quote: message.quote }, actions),
    media,
    messageText(entry, actions, media !== null),
    reactionRow(state, entry, actions),
  );
  const props = {
    "data-testid": "message",
    "data-message-id": message.message_id,
    "data-from-id": message.from?.id,
    "aria-label": `${entry.isOwn ? "You" : senderName(state, message.from)}, ${timeOfDay(message.date)}`,
  };
  const keyboard = inlineKeyboard(message, entry.pressed, actions);
  return row(state, entry, props, [bubble, keyboard, messageTools(entry, actions)]);
}

export function renderOutgoing(state, entry, actions) {
  const { outgoing, quoted } = entry;
  const hasFailed = outgoing.status === "failed";
  const mark = hasFailed ? ticks("alert", "Not sent") : ticks("clock", "Sending");
  const files = (outgoing.files ?? []).map(({ name }) =>
    el("div", { class: "sending-file", dir: "auto" }, icon("clip"), name),
  );
  const text = el(
    "div",
    { class: "text", dir: "auto" },
    files,
    outgoing.text,
    el("span", { class: "meta" }, mark),
  );
  const bubble = el("div", { class: "bubble" }, quoteButton(state, { quoted }, actions), text);
  const props = { "data-testid": "outgoing", "data-status": outgoing.status };
  const failure = hasFailed ? failureBox(outgoing, actions) : null;
  return row(state, { ...entry, isFailed: hasFailed }, props, [bubble, failure]);
}

export function renderDraft(state, entry) {
  const { draft } = entry;
  const entities = [...(draft.entities ?? []), freshPart(draft)];
  const caret = el("span", { class: "caret", "aria-hidden": "true" });
  const isThinking = draft.text === "";
  const content = isThinking
    ? el("span", { class: "thinking" }, "Thinking…")
    : [renderText(draft.text, entities, null), caret];
  const text = el("div", { class: "text", dir: "auto" }, content);
  const props = { "data-testid": "draft", "data-draft-id": draft.draft_id, "aria-busy": "true" };
  return row(state, entry, props, [el("div", { class: "bubble" }, senderLine(state, entry), text)]);
}

export function renderService({ message, date, service }) {
  const props = { class: "service-row", "data-testid": "service", "data-message-id": message.message_id };
  return el("li", props, el("span", { class: "pill", title: fullDate(date) }, service));
}

function row(state, entry, props, content) {
  const names = ["row", entry.isOwn ? "own" : "other"];
  for (const name of ["first", "last"]) if (entry[name]) names.push(name);
  if (entry.isFailed) names.push("failed");
  const hasFace = entry.isGroup && !entry.isOwn;
  if (hasFace) names.push("with-face");
  const stack = el("div", { class: "stack" }, content);
  return el("li", { class: names.join(" "), tabindex: "-1", ...props }, hasFace && face(state, entry), stack);
}

// Only the last message of a group shows its sender; the others leave the space free.
function face(state, { message, last }) {
  const sender = message?.from ?? state.bot;
  const avatar = personAvatar(state, state.people.get(sender.id) ?? sender, "small");
  return el("span", { class: "face" }, last && avatar);
}

function messageText(entry, actions, hasMedia) {
  const { message } = entry;
  const text = message.text ?? message.caption;
  const entities = message.entities ?? message.caption_entities;
  if (text === undefined && hasMedia) return el("div", { class: "text only-meta" }, timeMeta(entry));
  const content =
    text === undefined
      ? el("em", { class: "unsupported" }, "Unsupported message")
      : renderText(text, entities, actions.fillAndFocus);
  const props = { class: "text", dir: "auto", "data-testid": "message-text" };
  return el("div", props, content, timeMeta(entry));
}

// The new part of a growing text fades in.
function freshPart({ text, shown }) {
  let same = 0;
  while (same < shown.length && same < text.length && shown[same] === text[same]) same += 1;
  return { type: "fresh", offset: same, length: text.length - same };
}
