// The right side: the open chat with its head, timeline and composer, or a hint if none is open.
import { createChatHeader } from "./chat_header.js";
import { Composer } from "./composer.js";
import { el, icon } from "./dom.js";
import { findMessage, personPlaceKey, topicOf } from "./places.js";
import { Timeline } from "./timeline.js";

export class ChatPane {
  #actions;
  #notify;
  #waiting = el("div", { class: "no-chat", "data-testid": "no-chat" }, icon("chat"), el("p"));
  #header;
  #timeline;
  #composer;
  #state = null;
  #shownKey = null;
  #toReveal = null;

  constructor(root, actions, composing, notify) {
    this.#actions = actions;
    this.#notify = notify;
    const extended = { ...actions, ...this.#extraActions() };
    this.#header = createChatHeader(extended);
    this.#timeline = new Timeline(extended);
    this.#composer = new Composer(extended, composing);
    root.append(this.#waiting, ...this.#views.map((view) => view.root));
  }

  render(state) {
    this.#state = state;
    const { personId, chatId, topicId } = state.view;
    const isOpen = state.loaded && chatId !== null;
    if (!isOpen) this.#timeline.close();
    this.#waiting.hidden = isOpen;
    this.#waiting.lastElementChild.textContent = waitingText(state);
    for (const view of this.#views) view.root.hidden = !isOpen;
    if (isOpen) for (const view of this.#views) view.render(state);
    this.#arrive(isOpen ? personPlaceKey(personId, chatId, topicId) : null);
  }

  get #views() {
    return [this.#header, this.#timeline, this.#composer];
  }

  // Actions that also move the focus or the timeline.
  #extraActions() {
    const thenWrite =
      (action) =>
      (...values) => {
        action(...values);
        this.#composer.focus();
      };
    return {
      fillAndFocus: thenWrite(this.#actions.fill),
      startReply: thenWrite(this.#actions.startReply),
      startEdit: thenWrite(this.#actions.startEdit),
      jumpTo: (message) => this.#jumpTo(message),
      copyText: (text) => this.#copyText(text),
      submit: (text) => {
        this.#timeline.toBottom();
        return this.#actions.submit(text);
      },
    };
  }

  #arrive(key) {
    const isNew = key !== null && key !== this.#shownKey;
    if (isNew && matchMedia("(hover: hover)").matches) this.#composer.focus();
    this.#shownKey = key;
    if (this.#toReveal !== null) this.#timeline.reveal(this.#toReveal);
    this.#toReveal = null;
  }

  #jumpTo({ message_id: messageId }) {
    const { view, chats } = this.#state;
    const message = findMessage(this.#state, view.chatId, messageId);
    const topicId = message ? topicOf(chats.get(view.chatId), message) : null;
    if (!message) this.#notify("This message is too old to be shown here, or was deleted.");
    else if (topicId === view.topicId) this.#timeline.reveal(messageId);
    else {
      this.#toReveal = messageId;
      this.#actions.openChat(view.chatId, topicId);
    }
  }

  async #copyText(text) {
    await navigator.clipboard.writeText(text);
    this.#notify("Copied.");
  }
}

function waitingText({ loaded, connection }) {
  if (loaded) return "Choose a chat to begin.";
  return connection === "lost" ? "The simulator cannot be reached." : "Loading…";
}
