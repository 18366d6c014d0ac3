// Knows which private lines have not reached the bot yet.

export function messageKey(chatId, messageId) {
  return `${chatId}:${messageId}`;
}

// Which updates wait is not told: it can only be what was said after the bot's last sign of life.
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

// Nothing pending means that the bot has taken every update, so every private line has reached it.
export function noteDeliveries(state) {
  if (state.deliveries.pending === 0 && state.deliveries.mode !== "none") state.undelivered.clear();
}

// A bot that acts in a chat has received what was said there.
export function forgetUndelivered(state, chatId) {
  for (const key of state.undelivered) if (key.startsWith(`${chatId}:`)) state.undelivered.delete(key);
}
