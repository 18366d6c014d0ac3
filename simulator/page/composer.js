// The composer: a growing field, the reply or edit strip above it, suggestions, and the send button.
import { createAttachButton, createTray, takenFiles } from "./attachments.js";
import { blockLabel } from "./chat_menu.js";
import { button, el, fill, icon, iconButton } from "./dom.js";
import { findMessage, hasBot, isPrivate, personPlaceKey, senderName } from "./places.js";
import { previewText } from "./preview_text.js";
import { inlineQuery, insertOption, suggest } from "./suggest.js";
import { SuggestionBox } from "./suggestion_box.js";
import { VoiceRecorder } from "./voice_recorder.js";

const LIMIT = 4096;
const CAPTION_LIMIT = 1024;
const WARN_AT = 200;
const NARROW = "(max-width: 719px)";

export class Composer {
  #actions;
  #composing;
  #parts = buildParts();
  #box;
  #tray;
  #recorder;
  #state = null;
  #shownKey = null;

  constructor(actions, composing) {
    this.#actions = actions;
    this.#composing = composing;
    const { input, commands, field, strip, blocked, send } = this.#parts;
    this.#box = new SuggestionBox(input, (offer, option) => this.#takeSuggestion(offer, option));
    this.#tray = createTray(actions.detach);
    const attach = createAttachButton((files) => this.#attach(files), actions.notify);
    this.#recorder = new VoiceRecorder({
      onRecorded: actions.sendVoice,
      onMissing: () => this.#askForVoice(attach),
    });
    commands.before(attach.root);
    send.before(this.#recorder.button);
    field.append(this.#recorder.root);
    const children = [this.#box.root, strip, this.#tray.root, field, blocked];
    this.root = el("form", { class: "composer", "aria-label": "Write a message" }, children);
    this.root.addEventListener("submit", (event) => this.#submit(event));
    this.root.addEventListener("dragover", (event) => event.preventDefault());
    this.root.addEventListener("drop", (event) => this.#take(event, event.dataTransfer));
    input.addEventListener("paste", (event) => this.#take(event, event.clipboardData));
    input.addEventListener("input", () => this.#onInput());
    input.addEventListener("keydown", (event) => this.#onKey(event));
    input.addEventListener("click", () => this.#offerSuggestions());
    input.addEventListener("blur", () => this.#box.show(null));
    commands.addEventListener("click", () => this.#startCommand());
    blocked.addEventListener("click", () => this.#leaveBar());
  }

  render(state) {
    this.#state = state;
    const { view } = state;
    const key = personPlaceKey(view.personId, view.chatId, view.topicId);
    const { text, replyTo, quote, editing } = this.#composing.read(view);
    if (key !== this.#shownKey) {
      this.#box.show(null);
      this.#recorder.stop();
    }
    this.#shownKey = key;
    this.#tray.render(this.#composing.files(view));
    if (this.#parts.input.value !== text) this.#setText(text);
    this.#showPlace(state.chats.get(view.chatId));
    this.#showStrip(`${key}:${replyTo}:${quote}:${editing}`, { replyTo, quote, editing });
    this.#showSize();
  }

  focus() {
    this.#parts.input.focus({ preventScroll: true });
  }

  // A person who has blocked the bot cannot write to it. A group works without the bot; an upgraded group is closed.
  #showPlace(chat) {
    const { field, blocked, input } = this.#parts;
    const isClosed = Boolean(chat.migrated_to) || (isPrivate(chat) && !hasBot(this.#state, chat));
    field.hidden = isClosed;
    blocked.hidden = !isClosed;
    blocked.textContent = chat.migrated_to ? "Open the supergroup" : blockLabel(this.#state, chat, false);
    const isShort = isPrivate(chat) || matchMedia(NARROW).matches;
    input.placeholder = isShort ? "Message" : `Message, or @${this.#state.bot.username}`;
  }

  #showStrip(stripKey, { replyTo, quote, editing }) {
    const { strip } = this.#parts;
    if (strip.dataset.shown === stripKey) return;
    strip.dataset.shown = stripKey;
    const message = findMessage(this.#state, this.#state.view.chatId, replyTo ?? editing);
    strip.hidden = !message;
    fill(
      strip,
      message
        ? stripParts(this.#state, message, { quote, isEditing: editing !== null }, this.#actions.cancelExtras)
        : [],
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
    if (!this.#isSendable) return;
    this.#box.show(null);
    if (await this.#actions.submit(text)) this.focus();
  }

  #attach(files) {
    if (this.#composing.read(this.#state.view).editing !== null) this.#actions.cancelExtras();
    if (files.length > 0) this.#actions.attach(files);
    this.focus();
  }

  #take(event, transfer) {
    if (!transfer?.files.length) return;
    event.preventDefault();
    this.#attach(takenFiles(transfer, this.#actions.notify));
  }

  #askForVoice(attach) {
    this.#actions.notify("There is no microphone here: choose a recorded file.");
    attach.chooseVoice();
  }

  #leaveBar() {
    const { chats, view } = this.#state;
    const { migrated_to: newId } = chats.get(view.chatId);
    if (newId) this.#actions.openChat(newId);
    else this.#actions.setBlocked(view.chatId, false);
  }

  // A long text is sent as several messages, as by Telegram's apps. A caption cannot be split.
  get #left() {
    const limit = this.#composing.files(this.#state.view).length > 0 ? CAPTION_LIMIT : LIMIT;
    return limit - this.#parts.input.value.length;
  }

  get #isSendable() {
    const hasFiles = this.#composing.files(this.#state.view).length > 0;
    return (hasFiles || this.#parts.input.value.trim() !== "") && this.#left >= 0;
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
    const query = inlineQuery(text, bot);
    if (query) this.#offerResults(query);
    else this.#box.show(suggest({ text, caret, commands: commands ?? [], users }), this.#state);
  }

  // Results come late: those of an older text are dropped.
  async #offerResults(query) {
    this.#box.show(null);
    const { input } = this.#parts;
    const { value } = input;
    const options = await this.#actions.askInline(query);
    if (input.value !== value || options.length === 0 || document.activeElement !== input) return;
    // Enter sends the text as it is; a press or Tab chooses.
    const whole = options.map((option) => ({ ...option, insert: value }));
    this.#box.show({ start: 0, end: value.length, options: whole }, this.#state);
  }

  #takeSuggestion(offer, option) {
    if (option.kind === "inline") {
      this.#actions.chooseInline(option);
      return;
    }
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
    const left = this.#left;
    counter.hidden = left > WARN_AT;
    counter.textContent = String(left);
    counter.classList.toggle("over", left < 0);
    send.disabled = !this.#isSendable;
    const isEmpty = send.disabled && input.value === "";
    send.hidden = isEmpty;
    this.#recorder.button.hidden = !isEmpty;
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

function stripParts(state, message, { quote, isEditing }, cancel) {
  const reply = `${quote ? "Quote" : "Reply to"} ${senderName(state, message.from)}`;
  const name = isEditing ? "Edit message" : reply;
  const line = el("span", { class: "strip-line", dir: "auto" }, quote ?? previewText(state, message));
  const text = el("span", { class: "strip-text" }, el("span", { class: "strip-name" }, name), line);
  const close = iconButton("close", "Cancel", { "data-testid": "strip-cancel", onclick: cancel });
  return [icon(isEditing ? "edit" : "reply"), text, close];
}
