// The topics of a forum as a row of tabs, each with its unread count and typing.
import { button, el, reconcile } from "./dom.js";
import { actionIn, hasTopics, isPrivate, topicsOf, unreadIn } from "./places.js";
import { typingDots } from "./typing.js";
import { unreadBadge } from "./unread_badge.js";

export function createTopicTabs(actions) {
  const list = el("div", { class: "topics", role: "tablist", "aria-label": "Topics" });
  const label = { "aria-label": "New topic", title: "New topic" };
  const add = button({ class: "new-topic", "data-testid": "new-topic", ...label }, "+");
  const root = el("div", { class: "topic-bar", hidden: true }, list, add);
  let shown = null;
  list.addEventListener("keydown", moveBetweenTabs);
  add.addEventListener("click", () => actions.startTopic(shown));

  function render(state, chat) {
    shown = chat;
    // A private chat shows its topics once it has one; the first is made in the chat's menu.
    root.hidden = !hasTopics(chat) || (isPrivate(chat) && chat.topics.length === 0);
    const tabs = root.hidden ? [] : topicsOf(chat).map((topic) => planTab(state, chat, topic));
    const items = tabs.map((tab) => ({
      key: `${chat.id}/${tab.topicId}`,
      signature: JSON.stringify(tab),
      build: () => tabButton(tab, () => actions.openChat(chat.id, tab.topicId)),
    }));
    reconcile(list, items);
  }

  return { root, render };
}

function planTab(state, chat, { message_thread_id: topicId, name }) {
  const isOpen = state.view.topicId === topicId;
  return {
    topicId,
    name,
    isOpen,
    unread: isOpen ? 0 : unreadIn(state, state.view.personId, chat.id, topicId),
    isTyping: actionIn(state, chat.id, topicId) !== null,
  };
}

function tabButton({ topicId, name, isOpen, unread, isTyping }, onclick) {
  const props = {
    role: "tab",
    class: "topic-tab",
    "aria-selected": String(isOpen),
    tabindex: isOpen ? "0" : "-1",
    "data-testid": "topic-tab",
    "data-topic-id": topicId ?? "",
    onclick,
  };
  const hash = el("span", { class: "hash", "aria-hidden": "true" }, "#");
  return button(props, hash, name, isTyping && typingDots(), unreadBadge(unread));
}

function moveBetweenTabs(event) {
  const step = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" }[event.key];
  const tab = step && document.activeElement?.[step];
  if (!tab) return;
  event.preventDefault();
  tab.focus();
  tab.click();
}
