// Where people write: a growing field, the reply or edit strip above it, suggestions, and the send button.
import { blockLabel } from "./chat_menu.js";
import { button, el, fill, icon, iconButton } from "./dom.js";
import { findMessage, hasBot, isPrivate, personPlaceKey, senderName } from "./places.js";
import { previewText } from "./preview_text.js";
import { insertOption, suggest } from "./suggest.js";
import { SuggestionBox } from "./suggestion_box.js";

const LIMIT = 4096;
const WARN_AT = 200;

export class Composer {
  #actions;
  #composing;
  #parts = buildParts();
  #box;
  #state = null;
  #shownKey = null;

  constructor(actions, composing) {
    this.#actions = actions;
    this.#composing = composing;
    const { input, commands, field, strip, blocked } = this.#parts;
    this.#box = new SuggestionBox(input, (offer, option) => this.#takeSuggestion(offer, option));
    const children = [this.#box.root, strip, field, blocked];
    this.root = el("form", { class: "composer", "aria-label": "Write a message" }, children);
    this.root.addEventListener("submit", (event) => this.#submit(event));
    input.addEventListener("input", () => this.#onInput());
    input.addEventListener("keydown", (event) => this.#onKey(event));
    input.addEventListener("click", () => this.#offerSuggestions());
    input.addEventListener("blur", () => this.#box.show(null));
    commands.addEventListener("click", () => this.#startCommand());
    blocked.addEventListener("click", () => actions.setBlocked(this.#state.view.chatId, false));
  }

  render(state) {
    this.#state = state;
    const { view } = state;
    const key = personPlaceKey(view.personId, view.chatId, view.topicId);
    const { text, replyTo, editing } = this.#composing.read(view);
    if (key !== this.#shownKey) this.#box.show(null);
    this.#shownKey = key;
    if (this.#parts.input.value !== text) this.#setText(text);
    this.#showPlace(state.chats.get(view.chatId));
    this.#showStrip(`${key}:${replyTo}:${editing}`, { replyTo, editing });
    this.#showSize();
  }

  focus() {
    this.#parts.input.focus({ preventScroll: true });
  }

  // Who blocked the bot cannot write to it; in a group life goes on without it.
  #showPlace(chat) {
    const { field, blocked, input } = this.#parts;
    const isBlocked = isPrivate(chat) && !hasBot(this.#state, chat);
    field.hidden = isBlocked;
    blocked.hidden = !isBlocked;
    blocked.textContent = blockLabel(this.#state, chat, false);
    input.placeholder = isPrivate(chat) ? "Message" : `Message, or @${this.#state.bot.username}`;
  }

  #showStrip(stripKey, { replyTo, editing }) {
    const { strip } = this.#parts;
    if (strip.dataset.shown === stripKey) return;
    strip.dataset.shown = stripKey;
    const message = findMessage(this.#state, this.#state.view.chatId, replyTo ?? editing);
    strip.hidden = !message;
    fill(
      strip,
      message ? stripParts(this.#state, message, editing !== null, this.#actions.cancelExtras) : [],
    );
  }

  #setText(text) {
    const { input } = this.#parts;
    input.value = text;
    input.setSelectionRange(text.length, text.length);
    this.#grow();
  }

  async #submit(event) {
    event.preventDefault();
    const text = this.#parts.input.value;
    if (text.trim() === "" || text.length > LIMIT) return;
    this.#box.show(null);
    if (await this.#actions.submit(text)) this.focus();
  }

  #onInput() {
    this.#composing.change(this.#state.view, { text: this.#parts.input.value });
    this.#grow();
    this.#showSize();
    this.#offerSuggestions();
  }

  #onKey(event) {
    if (event.isComposing || this.#box.onKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey) this.#submit(event);
    else if (event.key === "Escape") this.#actions.cancelExtras();
    else if (event.key === "ArrowUp" && this.#parts.input.value === "") {
      event.preventDefault();
      this.#actions.editLastOwn();
    }
  }

  #offerSuggestions() {
    const { people, bot, chats, view } = this.#state;
    const { members, commands } = chats.get(view.chatId);
    const others = members.filter((id) => id !== view.personId).map((id) => people.get(id));
    const { value: text, selectionStart: caret } = this.#parts.input;
    const users = [bot, ...others].filter(Boolean);
    this.#box.show(suggest({ text, caret, commands: commands ?? [], users }), this.#state);
  }

  #takeSuggestion(offer, option) {
    const { input } = this.#parts;
    const { text, caret } = insertOption(input.value, offer, option);
    this.#setText(text);
    input.setSelectionRange(caret, caret);
    this.#composing.change(this.#state.view, { text });
    this.#showSize();
    this.focus();
  }

  #startCommand() {
    if (this.#parts.input.value.trim() === "") this.#setText("/");
    this.focus();
    this.#onInput();
  }

  #grow() {
    const { input } = this.#parts;
    input.style.height = "auto";
    input.style.height = `${input.scrollHeight}px`;
  }

  #showSize() {
    const { input, counter, send } = this.#parts;
    const left = LIMIT - input.value.length;
    counter.hidden = left > WARN_AT;
    counter.textContent = String(left);
    counter.classList.toggle("over", left < 0);
    send.disabled = input.value.trim() === "" || left < 0;
  }
}

function buildParts() {
  const input = el("textarea", {
    class: "composer-input",
    "data-testid": "composer-input",
    rows: "1",
    dir: "auto",
    placeholder: "Message",
    autocomplete: "off",
    enterkeyhint: "send",
    "aria-label": "Message",
    "aria-autocomplete": "list",
    "aria-controls": "suggestions",
  });
  const commands = iconButton("slash", "Commands", { "data-testid": "commands" });
  const counter = el("span", { class: "counter", role: "status", hidden: true });
  const sendProps = { type: "submit", class: "send", "data-testid": "send", "aria-label": "Send" };
  const send = el("button", { ...sendProps, title: "Send (Enter)", disabled: true }, icon("send"));
  return {
    input,
    commands,
    counter,
    send,
    field: el("div", { class: "field" }, commands, input, counter, send),
    strip: el("div", { class: "strip", "data-testid": "composer-strip", hidden: true }),
    blocked: button({ class: "blocked-bar", "data-testid": "unblock", hidden: true }),
  };
}

function stripParts(state, message, isEditing, cancel) {
  const name = isEditing ? "Edit message" : `Reply to ${senderName(state, message.from)}`;
  const line = el("span", { class: "strip-line", dir: "auto" }, previewText(state, message));
  const text = el("span", { class: "strip-text" }, el("span", { class: "strip-name" }, name), line);
  const close = iconButton("close", "Cancel", { "data-testid": "strip-cancel", onclick: cancel });
  return [icon(isEditing ? "edit" : "reply"), text, close];
}
