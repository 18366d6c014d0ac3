// Keeps the current view (person, chat, topic) in the address, so that reload and Back work.

// `#/1001/-1003001/2`: person, chat, topic; the later parts may be missing.
export function readRoute() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(Number);
  const [personId, chatId, topicId] = parts.map((part) =>
    Number.isInteger(part) && part !== 0 ? part : null,
  );
  return { personId: personId ?? null, chatId: chatId ?? null, topicId: topicId ?? null };
}

// Opening a chat from the list is a step that Back undoes; changing from chat to chat is not.
export function writeRoute(view, { fromList = false } = {}) {
  const parts = [view.personId, view.chatId, view.topicId].filter((part) => part !== null);
  const address = `#/${parts.join("/")}`;
  if (address === location.hash) return;
  if (fromList) history.pushState({ fromList: true }, "", address);
  else history.replaceState(history.state, "", address);
}

// True when Back was enough to leave the chat; otherwise the caller writes the list's own route.
export function leaveToList() {
  if (!history.state?.fromList) return false;
  history.back();
  return true;
}
