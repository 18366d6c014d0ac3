// Applies the server's events to the page's state; each may be repeated without harm.
import { forgetUndelivered, messageKey, noteDeliveries } from "./deliveries.js";
import { placeKey, topicOf } from "./places.js";

// A draft ends just before the message that replaces it arrives: it stays until then, without a gap.
const DRAFT_END_MS = 300;

// `now` is in milliseconds; what expires (typing, drafts) carries its end on that clock.
export function applyEvent(state, event, now) {
  APPLY[event.type]?.(state, event, now);
}

export function dropExpired(state, now) {
  for (const fading of [state.actions, state.drafts]) {
    for (const [key, value] of fading) if (value.until <= now) fading.delete(key);
  }
}

export function nextExpiry(state) {
  const ends = [...state.actions.values(), ...state.drafts.values()].map((value) => value.until);
  return ends.length > 0 ? Math.min(...ends) : null;
}

export function addMessage(state, message) {
  const isNew = putMessage(state, message);
  const key = placeKey(message.chat.id, topicOf(state.chats.get(message.chat.id), message));
  if (message.from?.id === state.bot.id) {
    state.actions.delete(key);
    state.drafts.delete(key);
    forgetUndelivered(state, message.chat.id);
  } else if (isNew) {
    hideOutgoing(state, message);
    if (message.chat.type === "private")
      state.undelivered.add(messageKey(message.chat.id, message.message_id));
  }
}

const APPLY = {
  message: (state, { message }) => addMessage(state, message),
  edit: (state, { message }) => putMessage(state, message),
  delete: (state, { chat_id, message_id }) => deleteMessage(state, chat_id, message_id),
  action: addAction,
  draft: addDraft,
  reaction: addReaction,
  commands: setCommands,
  callback_answer: (state, { user_id }) => state.pressed.delete(user_id),
  deliveries: (state, { mode, pending }) => {
    state.deliveries = { mode, pending };
    noteDeliveries(state);
  },
};

function putMessage(state, message) {
  const messages = state.messages.get(message.chat.id);
  if (!messages) return false;
  const at = messages.findIndex((known) => known.message_id >= message.message_id);
  const isKnown = at >= 0 && messages[at].message_id === message.message_id;
  messages.splice(at < 0 ? messages.length : at, isKnown ? 1 : 0, message);
  return !isKnown;
}

function deleteMessage(state, chatId, messageId) {
  const messages = state.messages.get(chatId) ?? [];
  state.messages.set(
    chatId,
    messages.filter((message) => message.message_id !== messageId),
  );
}

function addAction(state, { chat_id, message_thread_id, action, expires_in }, now) {
  const key = placeKey(chat_id, message_thread_id);
  if (action === "cancel") state.actions.delete(key);
  else state.actions.set(key, { action, until: now + expires_in * 1000 });
  forgetUndelivered(state, chat_id);
}

function addDraft(state, { chat_id, message_thread_id, draft_id, text, entities, expires_in }, now) {
  const key = placeKey(chat_id, message_thread_id);
  const before = state.drafts.get(key);
  if (expires_in <= 0) {
    if (before?.draft_id === draft_id)
      state.drafts.set(key, { ...before, shown: before.text, until: now + DRAFT_END_MS });
    return;
  }
  const shown = before?.draft_id === draft_id ? before.text : "";
  state.drafts.set(key, { draft_id, text, entities, shown, until: now + expires_in * 1000 });
  forgetUndelivered(state, chat_id);
}

function addReaction(state, { chat_id, message_id, user_id, reactions }) {
  const key = messageKey(chat_id, message_id);
  const byUser = new Map(state.reactions.get(key) ?? []);
  const emoji = reactions.map((reaction) => reaction.emoji).filter(Boolean);
  if (emoji.length > 0) byUser.set(user_id ?? 0, emoji);
  else byUser.delete(user_id ?? 0);
  state.reactions.set(key, byUser);
}

function setCommands(state, { chat_id, commands }) {
  for (const [id, chat] of state.chats) {
    if (chat_id === undefined || chat_id === null || chat_id === id)
      state.chats.set(id, { ...chat, commands });
  }
}

// The event of a message may overtake the answer to its sending: one of the two is shown, not both.
function hideOutgoing(state, message) {
  const entry = state.outbox.find(
    (one) =>
      !one.arrived &&
      one.status === "sending" &&
      one.chatId === message.chat.id &&
      one.personId === message.from?.id &&
      (one.files.length > 0 ? message.text === undefined : one.text.trim() === message.text),
  );
  if (entry) entry.arrived = true;
}
