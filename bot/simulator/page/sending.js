// Sends what people write, line after line; what could not be sent is kept until retried or discarded.
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

  // Brings back what an earlier load of the page could not send.
  restore() {
    const unsent = loadKept("unsent", []);
    this.#store.change((state) => {
      state.outbox = unsent.map((entry) => ({ ...entry, status: "failed", arrived: false }));
    });
  }

  send({ personId, chatId, topicId }, text, replyTo) {
    this.#lastId += 1;
    const place = { personId, chatId, topicId };
    const entry = { localId: this.#lastId, ...place, text, replyTo, status: "sending", error: null };
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
      const message = await this.#api.sendMessage(requestOf(entry));
      this.#store.change((state) => {
        state.outbox = state.outbox.filter((one) => one !== entry);
        addMessage(state, message);
      });
    } catch (error) {
      const failure = { status: "failed", error: error.message, arrived: false };
      this.#store.change(() => Object.assign(entry, failure));
    }
    this.#keepUnsent();
  }

  #keepUnsent() {
    keep("unsent", this.#store.state.outbox);
  }
}

function requestOf({ chatId, personId, topicId, text, replyTo }) {
  const body = { chat_id: chatId, from_id: personId, text };
  if (replyTo !== null) body.reply_to_message_id = replyTo;
  if (topicId !== null) body.message_thread_id = topicId;
  return body;
}
