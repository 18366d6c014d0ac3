// Says in plain words why a message was found.
import { el } from "./dom.js";
import { words } from "./words.js";

// Reasons come strongest first.
export function reasonList(why, message) {
  const texts = why.reasons.map((reason) => phrase(reason, why, message)).filter(Boolean);
  if (texts.length === 0) return null;
  const items = texts.map((text) => el("li", { class: "reason", dir: "auto" }, text));
  return el("ul", { class: "reasons", "data-testid": "reasons" }, items);
}

function phrase(reason, why, message) {
  if (reason === "words") return why.words.length ? wordsText(why.words) : words("shares-words");
  if (reason === "meaning") return words("similar-meaning");
  if (reason === "date") return words("from-that-day");
  if (reason === "writer") return message?.sender ? words("from-writer", { name: message.sender.name }) : words("from-that-writer");
  return null;
}

function wordsText(found) {
  const quoted = found.map((word) => words("quoted-words", { text: word }));
  return words("has-words", { count: found.length, words: quoted.join(words("list-separator")) });
}

// Returns the text's pieces, with the found words in <mark>. The text starts near the first of them.
export function markedText(text, found, length) {
  const pattern = found.length ? new RegExp(found.map(escape).join("|"), "giu") : null;
  const first = pattern ? Math.max(0, text.search(pattern)) : 0;
  const start = first > length / 2 ? text.lastIndexOf(" ", first - length / 4) + 1 : 0;
  const shown = text.slice(start, start + length);
  const pieces = start > 0 ? ["…"] : [];
  let end = 0;
  for (const match of pattern ? shown.matchAll(pattern) : []) {
    pieces.push(shown.slice(end, match.index), el("mark", null, match[0]));
    end = match.index + match[0].length;
  }
  pieces.push(shown.slice(end));
  if (start + length < text.length) pieces.push("…");
  return pieces;
}

function escape(word) {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
