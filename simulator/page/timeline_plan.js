// Plans what a place's timeline shows, top to bottom: dates, messages in groups, what is being sent, a draft.
import { messageKey } from "./deliveries.js";
import { dayLabel, isSameDay } from "./format.js";
import { findMessage, isPrivate, messagesIn, placeKey } from "./places.js";
import { serviceText } from "./preview_text.js";

const GROUP_SECONDS = 300;

// `unreadAfter`: the id of the last message read before the place was opened, or null for no divider.
export function planTimeline(state, { unreadAfter, now }) {
  const entries = [...messageEntries(state), ...outgoingEntries(state, now), ...draftEntries(state, now)];
  entries.forEach((entry, at) => {
    entry.first = !continues(entries[at - 1], entry);
    entry.last = !continues(entry, entries[at + 1]);
  });
  return withSeparators(entries, { unreadAfter, personId: state.view.personId, now });
}

function messageEntries(state) {
  const { personId, chatId, topicId } = state.view;
  const isGroup = !isPrivate(state.chats.get(chatId));
  return messagesIn(state, chatId, topicId).map((message) => {
    const service = serviceText(state, message);
    if (service !== null)
      return { kind: "service", key: `m${message.message_id}`, date: message.date, message, service };
    return {
      kind: "message",
      key: `m${message.message_id}`,
      message,
      date: message.date,
      fromId: message.from?.id,
      isOwn: message.from?.id === personId,
      isGroup,
      isDelivered: !isGroup && !state.undelivered.has(messageKey(chatId, message.message_id)),
      quoted: quotedMessage(state, message),
      reactions: state.reactions.get(messageKey(chatId, message.message_id)),
      pressed: pressedButton(state, message),
    };
  });
}

function outgoingEntries(state, now) {
  const { personId, chatId, topicId } = state.view;
  const isHere = (entry) =>
    !entry.arrived && entry.personId === personId && entry.chatId === chatId && entry.topicId === topicId;
  return state.outbox.filter(isHere).map((outgoing) => ({
    kind: "outgoing",
    key: `o${outgoing.localId}`,
    outgoing,
    date: now.getTime() / 1000,
    fromId: personId,
    isOwn: true,
    quoted: outgoing.replyTo ? findMessage(state, chatId, outgoing.replyTo) : null,
  }));
}

function draftEntries(state, now) {
  const { chatId, topicId } = state.view;
  const draft = state.drafts.get(placeKey(chatId, topicId));
  if (!draft) return [];
  const isGroup = !isPrivate(state.chats.get(chatId));
  const place = { date: now.getTime() / 1000, fromId: state.bot.id, isOwn: false, isGroup };
  return [{ kind: "draft", key: "draft", draft, ...place }];
}

// Telegram names a topic's first message as the replied one when nobody replied to anything.
function quotedMessage(state, message) {
  const quoted = message.reply_to_message;
  if (!quoted || quoted.forum_topic_created) return null;
  return findMessage(state, message.chat.id, quoted.message_id) ?? quoted;
}

function pressedButton(state, message) {
  const pressed = state.pressed.get(state.view.personId);
  return pressed?.chatId === message.chat.id && pressed.messageId === message.message_id
    ? pressed.data
    : null;
}

function continues(before, after) {
  if (!before || !after || before.kind === "service" || after.kind === "service") return false;
  if (before.message?.reply_markup) return false;
  const isClose = after.date - before.date < GROUP_SECONDS && isSameDay(before.date, after.date);
  return before.fromId === after.fromId && isClose;
}

function withSeparators(entries, { unreadAfter, personId, now }) {
  const items = [];
  let dated = null;
  let isDivided = unreadAfter === null;
  for (const entry of entries) {
    if (dated === null || !isSameDay(dated, entry.date)) {
      const label = dayLabel(entry.date, now);
      items.push({ kind: "date", key: `d${new Date(entry.date * 1000).toDateString()}`, label });
    }
    dated = entry.date;
    if (!isDivided && entry.message?.message_id > unreadAfter && entry.fromId !== personId) {
      items.push({ kind: "unread", key: "unread" });
      isDivided = true;
      entry.first = true;
    }
    items.push(entry);
  }
  return items;
}
