// Navigation: open and leave chats, switch to another person, follow the address.
import { chatsOf, hasTopics } from "./places.js";
import { leaveToList, readRoute, writeRoute } from "./route.js";

export function createNavigation(store) {
  const { state } = store;
  const show = (view) =>
    store.change(() => {
      if (view.personId !== state.view.personId) state.miniApp = null;
      state.view = view;
    });

  function openChat(chatId, topicId = null) {
    const fromList = state.view.chatId === null;
    const view = { personId: state.view.personId, chatId, topicId };
    writeRoute(view, { fromList });
    show(view);
  }

  function closeChat() {
    if (leaveToList()) return;
    const view = { personId: state.view.personId, chatId: null, topicId: null };
    writeRoute(view);
    show(view);
  }

  // Back also leaves the Mini App, which covers the chat on a phone.
  function followRoute() {
    state.miniApp = null;
    show(allowedView(state, readRoute()));
  }

  // The new person stays in a chat that both share. Otherwise their own private chat opens, if any chat is open.
  function becomePerson(personId) {
    const view = allowedView(state, { ...state.view, personId });
    if (state.view.chatId !== null && view.chatId === null) view.chatId = personId;
    writeRoute(view);
    show(view);
  }

  return { openChat, closeChat, followRoute, becomePerson };
}

// The nearest view that exists and that the person may see.
export function allowedView(state, { personId, chatId, topicId }) {
  const known = state.people.has(personId) ? personId : (state.people.keys().next().value ?? null);
  const chat = chatsOf(state, known).find((one) => one.id === chatId);
  if (!chat) return { personId: known, chatId: null, topicId: null };
  const hasTopic = hasTopics(chat) && chat.topics.some((topic) => topic.message_thread_id === topicId);
  return { personId: known, chatId, topicId: hasTopic ? topicId : null };
}
