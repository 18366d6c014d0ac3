// Announces new messages of the open chat to screen readers, in one plain line each.
import { el } from "./dom.js";
import { senderName, topicOf } from "./places.js";
import { previewText } from "./preview_text.js";

const KEPT = 5;

export function createAnnouncer(root) {
  function announce(state, message) {
    const { personId, chatId, topicId } = state.view;
    const isHere = message.chat.id === chatId && topicOf(state.chats.get(chatId), message) === topicId;
    if (!isHere || message.from?.id === personId) return;
    root.append(el("p", null, `${senderName(state, message.from)}: ${previewText(state, message)}`));
    while (root.children.length > KEPT) root.firstElementChild.remove();
  }

  return { announce };
}
