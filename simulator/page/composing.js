// Remembers for each person and place the unsent text, its files, and the message that it replies to or edits.
import { keep, loadKept } from "./keep.js";
import { personPlaceKey } from "./places.js";

const EMPTY = { text: "", replyTo: null, quote: null, editing: null };

export function createComposing() {
  const kept = new Map(Object.entries(loadKept("composing", {})));
  const files = new Map();

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
    clear: (view) => {
      save(view, EMPTY);
      files.delete(keyOf(view));
    },
    // Files survive a change of place, but not a reload. Each: {kind, file, name, duration}.
    files: (view) => files.get(keyOf(view)) ?? [],
    setFiles: (view, chosen) => files.set(keyOf(view), chosen),
  };
}

function keyOf({ personId, chatId, topicId }) {
  return personPlaceKey(personId, chatId, topicId);
}
