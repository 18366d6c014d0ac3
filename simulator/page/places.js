// Answers questions about places (a chat, or one topic of a forum) from the state; changes nothing.
import { fullName } from "./format.js";

// A message without a known topic belongs to General, as in Telegram.
export function topicOf(chat, message) {
  if (!hasTopics(chat)) return null;
  if (chat.is_direct_messages) return message.direct_messages_topic?.topic_id ?? null;
  if (!message.is_topic_message) return null;
  return message.message_thread_id ?? null;
}

// A forum, or a private chat in which the bot allows topics.
export function hasTopics(chat) {
  return Boolean(chat && (chat.is_forum || chat.is_direct_messages || (isPrivate(chat) && chat.can_have_topics)));
}

export function placeKey(chatId, topicId) {
  return `${chatId}/${topicId ?? 0}`;
}

export function personPlaceKey(personId, chatId, topicId) {
  return `${personId}/${placeKey(chatId, topicId)}`;
}

export function messagesIn(state, chatId, topicId) {
  const chat = state.chats.get(chatId);
  const messages = state.messages.get(chatId) ?? [];
  return hasTopics(chat) ? messages.filter((message) => topicOf(chat, message) === topicId) : messages;
}

export function chatsOf(state, personId) {
  const all = [...state.chats.values()];
  const mine = all.filter((chat) =>
    isPrivate(chat) ? chat.id === personId : chat.members.includes(personId),
  );
  const newest = new Map(mine.map((chat) => [chat.id, lastMessage(state, chat.id)?.date ?? 0]));
  // The chat with the bot stays first: it is what the page is for.
  return mine.sort(
    (one, other) => isPrivate(other) - isPrivate(one) || newest.get(other.id) - newest.get(one.id),
  );
}

export function lastMessage(state, chatId) {
  return state.messages.get(chatId)?.at(-1) ?? null;
}

export function findMessage(state, chatId, messageId) {
  return state.messages.get(chatId)?.find((message) => message.message_id === messageId) ?? null;
}

// The one without an id has the messages outside all others.
export function topicsOf(chat) {
  const general = { message_thread_id: null, name: hasTopics(chat) ? "General" : null };
  if (!hasTopics(chat)) return [general];
  return chat.topics.some((topic) => !topic.message_thread_id) ? chat.topics : [general, ...chat.topics];
}

export function unreadIn(state, personId, chatId, topicId) {
  const readUpTo = state.readUpTo[personPlaceKey(personId, chatId, topicId)] ?? 0;
  const isNew = (message) => message.message_id > readUpTo && message.from?.id !== personId;
  return messagesIn(state, chatId, topicId).filter(isNew).length;
}

export function unreadOf(state, personId, chat) {
  const counts = topicsOf(chat).map((topic) => unreadIn(state, personId, chat.id, topic.message_thread_id));
  return counts.reduce((sum, count) => sum + count, 0);
}

export function isPrivate(chat) {
  return chat.type === "private";
}

// False if the person has blocked the bot or the group has removed it.
export function hasBot(state, chat) {
  return chat.members.includes(state.bot.id);
}

export function chatTitle(state, chat) {
  return isPrivate(chat) ? state.bot.first_name : (chat.title ?? `Chat ${chat.id}`);
}

export function senderName(state, user) {
  if (!user) return "Unknown";
  return fullName(state.people.get(user.id) ?? user);
}

export function actionIn(state, chatId, topicId) {
  return state.actions.get(placeKey(chatId, topicId)) ?? null;
}

export function actionsOfChat(state, chat) {
  return topicsOf(chat)
    .map((topic) => actionIn(state, chat.id, topic.message_thread_id))
    .find(Boolean);
}
