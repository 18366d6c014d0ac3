// The actions of a person on the page, one function each. Views call only these.
import { createChatDeeds } from "./chat_deeds.js";
import { keep } from "./keep.js";
import { createMiniApps } from "./mini_apps.js";
import { createNavigation } from "./navigation.js";
import { messagesIn, personPlaceKey } from "./places.js";
import { createWriting } from "./writing.js";

const PRESS_MS = 10_000;

// `parts`: store, api, sending, composing, and notify(text), which shows a short text.
export function createActions(parts) {
  const { store, sending } = parts;
  const navigation = createNavigation(store);
  return {
    ...navigation,
    ...createWriting(parts),
    ...createChatDeeds(parts, navigation),
    ...createMiniApps(parts, navigation),
    pressButton: createPressing(parts),
    notify: parts.notify,
    retry: (outgoing) => sending.retry(outgoing),
    discard: (outgoing) => sending.discard(outgoing),
    markRead: () => markRead(store),
  };
}

function createPressing({ store, api, notify }) {
  const { state } = store;

  return async (message, data) => {
    const { personId } = state.view;
    const mark = { chatId: message.chat.id, messageId: message.message_id, data };
    store.change(() => state.pressed.set(personId, mark));
    const release = () => {
      if (state.pressed.get(personId) === mark) store.change(() => state.pressed.delete(personId));
    };
    setTimeout(release, PRESS_MS);
    try {
      const where = { chat_id: mark.chatId, message_id: mark.messageId };
      await api.pressButton({ ...where, from_id: personId, data });
    } catch (error) {
      release();
      notify(`The button did not work. ${error.message}`);
    }
  };
}

function markRead(store) {
  const { state } = store;
  const { personId, chatId, topicId } = state.view;
  const newest = messagesIn(state, chatId, topicId).at(-1)?.message_id ?? 0;
  const key = personPlaceKey(personId, chatId, topicId);
  if ((state.readUpTo[key] ?? 0) >= newest) return;
  store.change(() => (state.readUpTo[key] = newest));
  keep("read", state.readUpTo);
}
