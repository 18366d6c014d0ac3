// Turns one entry of the timeline's plan into an item for the list: key, signature, and how to draw it.
import { renderDraft, renderMessage, renderOutgoing, renderService } from "./bubble.js";
import { el } from "./dom.js";

export function timelineItem(state, entry, actions) {
  return {
    key: entry.key,
    signature: signatureOf(state, entry),
    build: (known) => {
      const node = DRAW[entry.kind](state, entry, actions);
      if (known) node.classList.add("still");
      return node;
    },
  };
}

const DRAW = {
  message: renderMessage,
  outgoing: renderOutgoing,
  draft: renderDraft,
  service: (_, entry) => renderService(entry),
  date: (_, { label }) => el("li", { class: "date-row" }, el("span", { class: "pill" }, label)),
  unread: () => el("li", { class: "unread-row", "data-testid": "unread-divider" }, "New messages"),
};

const stamps = new WeakMap();
let lastStamp = 0;

function signatureOf(state, entry) {
  const objects = [entry.message, entry.draft, entry.quoted, entry.reactions, state.people].map(stampOf);
  const flags = [entry.first, entry.last, entry.isOwn, entry.isDelivered, entry.pressed];
  const texts = [entry.service, entry.label, entry.outgoing?.status, entry.outgoing?.error];
  return JSON.stringify([...objects, ...flags, ...texts]);
}

// Facts are replaced, never changed, so that an object's identity stands for its content.
function stampOf(value) {
  if (value === null || value === undefined) return 0;
  if (!stamps.has(value)) stamps.set(value, (lastStamp += 1));
  return stamps.get(value);
}
