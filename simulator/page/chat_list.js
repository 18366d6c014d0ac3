// The list of a person's chats: last line, time, unread count, typing.
import { chatAvatar } from "./avatar.js";
import { button, el, reconcile } from "./dom.js";
import { fullDate, listTime } from "./format.js";
import {
  actionsOfChat,
  chatsOf,
  chatTitle,
  isPrivate,
  lastMessage,
  topicOf,
  topicsOf,
  unreadOf,
} from "./places.js";
import { previewText, serviceText } from "./preview_text.js";
import { actionText, typingDots } from "./typing.js";
import { unreadBadge } from "./unread_badge.js";

export function createChatList(actions, composing) {
  const root = el("nav", { class: "chat-list", "aria-label": "Chat list" });

  root.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!step || !document.activeElement?.[step]) return;
    event.preventDefault();
    document.activeElement[step].focus();
  });

  function render(state) {
    const items = chatsOf(state, state.view.personId).map((chat) => planItem(state, chat, composing));
    reconcile(
      root,
      items.map((item) => toListItem(state, item, actions)),
    );
  }

  return { root, render };
}

function toListItem(state, item, actions) {
  return {
    key: String(item.chat.id),
    signature: JSON.stringify({ ...item, chat: [item.chat.title, item.chat.is_forum] }),
    build: () => renderItem(state, item, actions),
  };
}

// Everything that the row of a chat shows, as plain values.
function planItem(state, chat, composing) {
  const last = lastMessage(state, chat.id);
  const { personId } = state.view;
  return {
    chat,
    personId,
    title: chatTitle(state, chat),
    isOpen: state.view.chatId === chat.id,
    date: last?.date ?? null,
    time: last ? listTime(last.date, new Date()) : "",
    line: linePlan(state, chat, last),
    typing: actionsOfChat(state, chat)?.action ?? null,
    unread: unreadOf(state, personId, chat),
    draft: state.view.chatId === chat.id ? "" : draftText(composing, personId, chat),
  };
}

function linePlan(state, chat, last) {
  if (!last) return { who: "", text: "No messages yet" };
  const text = previewText(state, last);
  const topic = chat.is_forum ? topicName(chat, topicOf(chat, last)) : null;
  if (serviceText(state, last) !== null) return { who: "", text };
  const isOwn = last.from?.id === state.view.personId;
  const who = isOwn ? "You" : isPrivate(chat) ? "" : (last.from?.first_name ?? "");
  return { who: topic ? [topic, who].filter(Boolean).join(" › ") : who, text };
}

function topicName(chat, topicId) {
  return chat.topics.find((topic) => topic.message_thread_id === topicId)?.name ?? "General";
}

function draftText(composing, personId, chat) {
  const texts = topicsOf(chat).map((topic) => composing.readText(personId, chat.id, topic.message_thread_id));
  return texts.find((text) => text.trim() !== "") ?? "";
}

function renderItem(state, item, actions) {
  const time = item.date ? el("time", { class: "item-time", title: fullDate(item.date) }, item.time) : null;
  const props = {
    class: `chat-item${item.isOpen ? " is-open" : ""}`,
    "data-testid": "chat-list-item",
    "data-chat-id": item.chat.id,
    "aria-current": item.isOpen ? "true" : null,
    onclick: () => actions.openChat(item.chat.id, openingTopic(state, item.chat)),
  };
  const head = el(
    "span",
    { class: "item-row" },
    el("span", { class: "item-title", dir: "auto" }, item.title),
    time,
  );
  const line = el("span", { class: "item-row" }, lineNode(item), unreadBadge(item.unread));
  return button(props, chatAvatar(state, item.chat), el("span", { class: "item-body" }, head, line));
}

function lineNode({ typing, draft, line }) {
  if (typing) {
    const text = actionText("", typing);
    return el("span", { class: "item-line is-typing", "data-testid": "typing-in-list" }, text, typingDots());
  }
  if (draft) {
    return el("span", { class: "item-line" }, el("span", { class: "item-draft" }, "Draft: "), draft);
  }
  const who = line.who ? el("span", { class: "item-who" }, `${line.who}: `) : null;
  return el("span", { class: "item-line", "data-testid": "last-line" }, who, line.text);
}

// A forum opens at the topic with the newest message.
function openingTopic(state, chat) {
  if (state.view.chatId === chat.id) return state.view.topicId;
  const last = lastMessage(state, chat.id);
  return last ? topicOf(chat, last) : null;
}
