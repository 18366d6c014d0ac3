// The state of the page, and the update of it from the world of the server.
import { guessUndelivered, messageKey, noteDeliveries } from "./deliveries.js";
import { personPlaceKey, topicOf, topicsOf } from "./places.js";

export function emptyState() {
  return {
    loaded: false,
    connection: "connecting",
    bot: null,
    notice: null,
    people: new Map(),
    chats: new Map(),
    messages: new Map(),
    deliveries: { mode: "none", pending: 0 },
    actions: new Map(),
    drafts: new Map(),
    reactions: new Map(),
    undelivered: new Set(),
    readUpTo: {},
    outbox: [],
    pressed: new Map(),
    miniApp: null,
    view: { personId: null, chatId: null, topicId: null },
  };
}

export function applyWorld(state, world) {
  const before = state.messages;
  state.loaded = true;
  state.bot = world.bot;
  state.notice = world.notice ?? null;
  state.people = new Map(world.people.map((person) => [person.id, person]));
  state.chats = new Map(world.chats.map((chat) => [chat.id, chat]));
  state.deliveries = world.deliveries;
  state.messages = new Map(world.chats.map((chat) => [chat.id, []]));
  for (const message of world.messages) state.messages.get(message.chat.id)?.push(sameOrNew(before, message));
  for (const messages of state.messages.values())
    messages.sort((one, other) => one.message_id - other.message_id);
  state.reactions = reactionsOf(world.reactions ?? []);
  startReading(state);
  guessUndelivered(state);
  noteDeliveries(state);
}

// The emoji of each user, for each message.
function reactionsOf(given) {
  const byMessage = new Map();
  for (const { chat_id, message_id, user_id, reactions } of given) {
    const key = messageKey(chat_id, message_id);
    const emoji = reactions.map((reaction) => reaction.emoji).filter(Boolean);
    if (emoji.length > 0) byMessage.set(key, new Map(byMessage.get(key) ?? []).set(user_id ?? 0, emoji));
  }
  return byMessage;
}

// Messages older than the first view of a place count as read.
function startReading(state) {
  const known = { ...state.readUpTo };
  const newest = (chat, topicId) =>
    state.messages.get(chat.id).findLast((message) => topicOf(chat, message) === topicId)?.message_id ?? 0;
  for (const chat of state.chats.values()) {
    for (const { message_thread_id: topicId } of topicsOf(chat)) {
      const last = newest(chat, topicId);
      for (const personId of state.people.keys()) {
        const key = personPlaceKey(personId, chat.id, topicId);
        known[key] = Math.min(known[key] ?? last, last);
      }
    }
  }
  state.readUpTo = known;
}

function sameOrNew(before, message) {
  const known = before.get(message.chat.id)?.find((one) => one.message_id === message.message_id);
  return known && JSON.stringify(known) === JSON.stringify(message) ? known : message;
}
