// Sends lines with their files, one after another. A failed line is kept until it is retried or discarded.
import { keep, loadKept } from "./keep.js";
import { addMessage } from "./world_events.js";

export class Sending {
  #store;
  #api;
  #isBusy = false;
  #lastId = Date.now();

  constructor(store, api) {
    this.#store = store;
    this.#api = api;
  }

  // Restores lines that an earlier load of the page could not send.
  restore() {
    const unsent = loadKept("unsent", []);
    this.#store.change((state) => {
      state.outbox = unsent.map((entry) => ({ ...entry, status: "failed", arrived: false }));
    });
  }

  send({ personId, chatId, topicId }, { text, replyTo, quote, files }) {
    this.#lastId += 1;
    const place = { personId, chatId, topicId };
    const line = { text, replyTo, quote, files };
    const entry = { localId: this.#lastId, ...place, ...line, status: "sending", error: null };
    this.#store.change((state) => state.outbox.push(entry));
    this.#keepUnsent();
    this.#drain();
  }

  retry(entry) {
    if (entry.status !== "failed") return;
    this.#store.change(() => Object.assign(entry, { status: "sending", error: null, arrived: false }));
    this.#drain();
  }

  discard(entry) {
    this.#store.change((state) => (state.outbox = state.outbox.filter((one) => one !== entry)));
    this.#keepUnsent();
  }

  async #drain() {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const next = () => this.#store.state.outbox.find((entry) => entry.status === "sending");
    for (let entry = next(); entry; entry = next()) await this.#deliver(entry);
    this.#isBusy = false;
  }

  async #deliver(entry) {
    try {
      const messages = await this.#post(entry);
      this.#store.change((state) => {
        state.outbox = state.outbox.filter((one) => one !== entry);
        for (const message of messages) addMessage(state, message);
      });
    } catch (error) {
      const failure = { status: "failed", error: error.message, arrived: false };
      this.#store.change(() => Object.assign(entry, failure));
    }
    this.#keepUnsent();
  }

  async #post(entry) {
    const place = placeOf(entry);
    const { text, files } = entry;
    const items = [];
    for (const file of files) items.push(await this.#upload(file));
    if (items.length === 0) return [await this.#api.sendMessage({ ...place, text })];
    const caption = text.trim() === "" ? {} : { caption: text };
    if (items.length === 1) return [await this.#api.sendMessage({ ...place, ...items[0], ...caption })];
    delete place.quote;
    const [first, ...others] = items;
    return (await this.#api.sendAlbum({ ...place, items: [{ ...first, ...caption }, ...others] })).messages;
  }

  // A retry does not repeat lines that have arrived.
  async #upload(item) {
    item.fileId ??= (await this.#api.upload(item.file, item.name)).file_id;
    const duration = item.duration === undefined ? {} : { duration: item.duration };
    return { [item.kind]: item.fileId, ...duration };
  }

  // Files are lost after a reload, and their lines too.
  #keepUnsent() {
    keep(
      "unsent",
      this.#store.state.outbox.filter((entry) => entry.files.length === 0),
    );
  }
}

function placeOf({ chatId, personId, topicId, replyTo, quote }) {
  const body = { chat_id: chatId, from_id: personId };
  if (replyTo !== null) body.reply_to_message_id = replyTo;
  if (replyTo !== null && quote) body.quote = quote;
  if (topicId !== null) body.message_thread_id = topicId;
  return body;
}
