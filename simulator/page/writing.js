// The actions of the composer and of message tools: send, attach, reply, edit, fill in, cancel.
import { asAlbum, MOST_FILES } from "./attachments.js";
import { messagesIn } from "./places.js";
import { addMessage } from "./world_events.js";

export function createWriting({ store, api, sending, composing, notify }) {
  const { state } = store;

  function change(part) {
    composing.change(state.view, part);
    store.refresh();
  }

  // Resolves to false if the text must stay in the field.
  async function submit(text) {
    const { view } = state;
    const { editing, replyTo, quote } = composing.read(view);
    if (editing !== null) return saveEdit(view, editing, text);
    sending.send(view, { text, replyTo, quote, files: composing.files(view) });
    composing.clear(view);
    store.refresh();
    return true;
  }

  // Resolves to the bot's results for `@bot question`, as options of the suggestion box.
  async function askInline(query) {
    const { personId, chatId } = state.view;
    const asked = await api.askInline({ chat_id: chatId, from_id: personId, query }).catch(() => null);
    return (asked?.results ?? []).map(({ id, title, description }) => ({
      kind: "inline",
      label: title,
      hint: description,
      user: state.bot,
      chosen: { inline_query_id: asked.inline_query_id, result_id: id },
    }));
  }

  async function chooseInline({ chosen }) {
    const { view } = state;
    const place = { chat_id: view.chatId, from_id: view.personId };
    if (view.topicId !== null) place.message_thread_id = view.topicId;
    try {
      const message = await api.chooseInline({ ...place, ...chosen });
      composing.clear(view);
      store.change(() => addMessage(state, message));
    } catch (error) {
      notify(`The result was not sent. ${error.message}`);
    }
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
  const startReply = (message, quote = null) => change({ replyTo: message.message_id, quote, editing: null });

  function startEdit(message) {
    composing.setFiles(state.view, []);
    const text = message.text ?? message.caption ?? "";
    change({ text, replyTo: null, quote: null, editing: message.message_id });
  }

  function attach(files) {
    composing.setFiles(state.view, asAlbum([...composing.files(state.view), ...files]).slice(0, MOST_FILES));
    store.refresh();
  }

  function detach(file) {
    composing.setFiles(
      state.view,
      composing.files(state.view).filter((one) => one !== file),
    );
    store.refresh();
  }

  // A recording is sent at once; the unsent text stays.
  function sendVoice(file) {
    const { view } = state;
    const { replyTo, quote, editing } = composing.read(view);
    sending.send(view, { text: "", replyTo, quote, files: [file] });
    if (editing === null) change({ replyTo: null, quote: null });
  }

  function editLastOwn() {
    const { personId, chatId, topicId } = state.view;
    const isOwn = (message) => message.from?.id === personId && (message.text ?? message.caption);
    const own = messagesIn(state, chatId, topicId).findLast(isOwn);
    if (own) startEdit(own);
  }

  function cancelExtras() {
    const { editing, text } = composing.read(state.view);
    change({ text: editing === null ? text : "", replyTo: null, quote: null, editing: null });
  }

  return { submit, askInline, chooseInline, fill, startReply, startEdit, editLastOwn, cancelExtras, attach, detach, sendVoice };
}
