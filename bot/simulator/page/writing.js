// What the composer and the messages' tools do: send, reply, edit, fill in, cancel.
import { messagesIn } from "./places.js";
import { addMessage } from "./world_events.js";

export function createWriting({ store, api, sending, composing, notify }) {
  const { state } = store;

  function change(part) {
    composing.change(state.view, part);
    store.refresh();
  }

  // Resolves to false when the text must stay where it is.
  async function submit(text) {
    const { view } = state;
    const { editing, replyTo } = composing.read(view);
    if (editing !== null) return saveEdit(view, editing, text);
    sending.send(view, text, replyTo);
    composing.clear(view);
    return true;
  }

  async function saveEdit(view, messageId, text) {
    try {
      const who = { chat_id: view.chatId, from_id: view.personId };
      const message = await api.editMessage({ ...who, message_id: messageId, text });
      composing.clear(view);
      store.change(() => addMessage(state, message));
      return true;
    } catch (error) {
      notify(`The change was not saved. ${error.message}`);
      return false;
    }
  }

  const fill = (text) => change({ text });
  const startReply = (message) => change({ replyTo: message.message_id, editing: null });
  const startEdit = (message) => change({ text: message.text, replyTo: null, editing: message.message_id });

  function editLastOwn() {
    const { personId, chatId, topicId } = state.view;
    const isOwn = (message) => message.from?.id === personId && message.text;
    const own = messagesIn(state, chatId, topicId).findLast(isOwn);
    if (own) startEdit(own);
  }

  function cancelExtras() {
    const { editing, text } = composing.read(state.view);
    change({ text: editing === null ? text : "", replyTo: null, editing: null });
  }

  return { submit, fill, startReply, startEdit, editLastOwn, cancelExtras };
}
