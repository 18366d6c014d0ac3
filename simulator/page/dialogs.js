// Small questions over the page: a name to write, a chat to choose.
import { chatAvatar } from "./avatar.js";
import { button, el, icon } from "./dom.js";
import { chatTitle, chatsOf, topicsOf } from "./places.js";

// Resolves to the text, or to null if the dialog was closed.
export function askText(title, { label, value = "", confirm }) {
  const input = el("input", {
    class: "dialog-input",
    "aria-label": label,
    placeholder: label,
    maxlength: "128",
    dir: "auto",
    required: true,
    autocomplete: "off",
  });
  input.value = value;
  const ok = el("button", { type: "submit", class: "primary-button", value: "ok" }, confirm);
  return ask(
    title,
    [input, el("div", { class: "dialog-buttons" }, leaveButton(), ok)],
    () => input.value.trim() || null,
  );
}

// Resolves to {chatId, topicId}, or to null.
export function askPlace(state, title) {
  const chats = chatsOf(state, state.view.personId).filter((chat) => !chat.migrated_to);
  const places = chats.flatMap((chat) =>
    (topicsOf(chat).length > 1 ? topicsOf(chat) : [{ message_thread_id: null }]).map((topic) => ({
      chat,
      topic,
    })),
  );
  let chosen = null;
  const rows = places.map(({ chat, topic: { message_thread_id: topicId, name } }) => {
    const choose = (event) => {
      chosen = { chatId: chat.id, topicId: topicId ?? null };
      event.currentTarget.closest("dialog").close("ok");
    };
    const text = el(
      "span",
      { class: "menu-text" },
      el("span", { class: "menu-name" }, chatTitle(state, chat)),
      name && el("span", { class: "menu-hint" }, `# ${name}`),
    );
    return button(
      { class: "menu-item", "data-testid": "place-option", "data-chat-id": chat.id, onclick: choose },
      chatAvatar(state, chat),
      text,
    );
  });
  return ask(
    title,
    [el("div", { class: "dialog-list" }, rows), el("div", { class: "dialog-buttons" }, leaveButton())],
    () => chosen,
  );
}

function ask(title, content, answer) {
  const form = el("form", { method: "dialog" }, el("h2", null, title), content);
  const dialog = el("dialog", { class: "alert", "data-testid": "dialog", "aria-label": title }, form);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "ok" ? answer() : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function leaveButton() {
  return button(
    { class: "text-button", onclick: (event) => event.currentTarget.closest("dialog").close("") },
    icon("close"),
    "Cancel",
  );
}
