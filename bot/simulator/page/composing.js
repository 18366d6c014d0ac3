// Remembers, per person and place, the text being written and what it replies to or edits.
import { keep, loadKept } from "./keep.js";
import { personPlaceKey } from "./places.js";

const EMPTY = { text: "", replyTo: null, editing: null };

export function createComposing() {
  const kept = new Map(Object.entries(loadKept("composing", {})));

  function save(view, value) {
    const key = keyOf(view);
    if (value.text === "" && value.replyTo === null && value.editing === null) kept.delete(key);
    else kept.set(key, value);
    keep("composing", Object.fromEntries(kept));
  }

  return {
    read: (view) => kept.get(keyOf(view)) ?? EMPTY,
    readText: (personId, chatId, topicId) => kept.get(personPlaceKey(personId, chatId, topicId))?.text ?? "",
    save,
    change: (view, part) => save(view, { ...(kept.get(keyOf(view)) ?? EMPTY), ...part }),
    clear: (view) => save(view, EMPTY),
  };
}

function keyOf({ personId, chatId, topicId }) {
  return personPlaceKey(personId, chatId, topicId);
}
