// Answers questions about places (a chat, or one topic of a forum) from the state; changes nothing.
import { fullName } from "./format.js";

// A message that no longer fits in any topic that we know belongs to General, as in Telegram.
export function topicOf(chat, message) {
  if (!chat?.is_forum || !message.is_topic_message) return null;
  return message.message_thread_id ?? null;
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
  return chat?.is_forum ? messages.filter((message) => topicOf(chat, message) === topicId) : messages;
}

export function chatsOf(state, personId) {
  const all = [...state.chats.values()];
  const mine = all.filter((chat) =>
    isPrivate(chat) ? chat.id === personId : chat.members.includes(personId),
  );
  const newest = new Map(mine.map((chat) => [chat.id, lastMessage(state, chat.id)?.date ?? 0]));
  return mine.sort((one, other) => newest.get(other.id) - newest.get(one.id));
}

export function lastMessage(state, chatId) {
  return state.messages.get(chatId)?.at(-1) ?? null;
}

export function findMessage(state, chatId, messageId) {
  return state.messages.get(chatId)?.find((message) => message.message_id === messageId) ?? null;
}

export function topicsOf(chat) {
  return chat?.is_forum ? chat.topics : [{ message_thread_id: null, name: null }];
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

// False when the person blocked the bot, or when the group took it out.
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
