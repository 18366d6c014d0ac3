// Finds the private lines that the bot has not received yet.

export function messageKey(chatId, messageId) {
  return `${chatId}:${messageId}`;
}

// The server does not list pending updates. They can only be newer than the last action of the bot.
export function guessUndelivered(state) {
  state.undelivered.clear();
  for (const chat of state.chats.values()) {
    if (chat.type !== "private") continue;
    const messages = state.messages.get(chat.id);
    const last = messages.findLastIndex((message) => message.from?.id === state.bot.id);
    for (const message of messages.slice(last + 1))
      state.undelivered.add(messageKey(chat.id, message.message_id));
  }
}

// If nothing is pending, the bot has received every private line.
export function noteDeliveries(state) {
  if (state.deliveries.pending === 0 && state.deliveries.mode !== "none") state.undelivered.clear();
}

// A bot that acts in a chat has received its messages.
export function forgetUndelivered(state, chatId) {
  for (const key of state.undelivered) if (key.startsWith(`${chatId}:`)) state.undelivered.delete(key);
}
