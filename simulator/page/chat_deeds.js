// The actions of a person on a chat, and the faults of Telegram that can be ordered there.
import { askPlace, askText } from "./dialogs.js";

const FLOOD_S = 10;

export function createChatDeeds({ store, api, notify }, { openChat }) {
  const { state } = store;

  // Resolves to the response of the simulator, or to null after it has shown the reason of a refusal.
  async function tried(asked, done) {
    try {
      const answer = await asked;
      if (done) notify(done);
      return answer;
    } catch (error) {
      notify(error.message);
      return null;
    }
  }

  const here = (chat) => ({ chat_id: chat.id, from_id: state.view.personId });

  const setLanguage = (code) =>
    tried(api.setLanguage({ from_id: state.view.personId, language_code: code }));
  const setBlocked = (chatId, blocked) => tried(api.setBlocked({ chat_id: chatId, blocked }));
  const changeMember = (chat, action, userId) =>
    tried(api.changeMember({ ...here(chat), action, ...(userId === undefined ? {} : { user_id: userId }) }));

  async function rename(chat) {
    const title = await askText("Rename the group", { label: "Name", value: chat.title, confirm: "Rename" });
    if (title !== null) await tried(api.setTitle({ ...here(chat), title }));
  }

  async function startTopic(chat) {
    const name = await askText("New topic", { label: "Name", confirm: "Create" });
    const made = name === null ? null : await tried(api.changeTopic({ ...here(chat), name }));
    if (!made) return;
    const { message_thread_id: topicId } = made;
    const isKnown = (current) =>
      current.chats.get(chat.id)?.topics.some((topic) => topic.message_thread_id === topicId);
    store.when(isKnown, () => openChat(chat.id, topicId));
  }

  const deleteTopic = (chat, topicId) =>
    tried(api.changeTopic({ ...here(chat), message_thread_id: topicId }), "The topic is deleted.");

  async function upgrade(chat) {
    const made = await tried(api.upgrade(here(chat)), "The group is a supergroup now, with a new id.");
    if (made)
      store.when(
        (current) => current.chats.has(made.id),
        () => openChat(made.id),
      );
  }

  async function forward(message) {
    const place = await askPlace(state, "Forward to…");
    if (place === null) return;
    const thread = place.topicId === null ? {} : { message_thread_id: place.topicId };
    const what = { from_chat_id: message.chat.id, message_ids: [message.message_id] };
    const to = { chat_id: place.chatId, from_id: state.view.personId, ...thread };
    if (await tried(api.forward({ ...to, ...what }), "Forwarded.")) openChat(place.chatId, place.topicId);
  }

  const react = (message, emoji) =>
    tried(api.react({ ...here(message.chat), message_id: message.message_id, emoji }));

  const deleteMessage = (message) =>
    tried(api.deleteMessages({ ...here(message.chat), message_id: message.message_id }));

  const orderFault = (chat, fault) =>
    tried(api.orderFault({ chat_id: chat.id, ...FAULTS[fault].body }), FAULTS[fault].done);
  const clearFaults = () => tried(api.clearFaults(), "Telegram works as usual again.");

  return {
    setLanguage,
    setBlocked,
    changeMember,
    rename,
    startTopic,
    deleteTopic,
    upgrade,
    forward,
    react,
    deleteMessage,
    orderFault,
    clearFaults,
  };
}

// Faults in the chat menu under "as Telegram", by name.
export const FAULTS = {
  flood: {
    label: `Too many requests, for ${FLOOD_S} s`,
    body: { error: "429", retry_after: FLOOD_S, hold: true },
    done: `The bot's next call for this chat is answered 429, and all after it for ${FLOOD_S} s.`,
  },
  broken: {
    label: "Fail the next call (500)",
    body: { error: "500" },
    done: "The bot's next call for this chat is answered 500.",
  },
  cut: {
    label: "Cut off after the next call",
    body: { error: "cut" },
    done: "The bot's next call for this chat is carried out, and its answer lost.",
  },
};
