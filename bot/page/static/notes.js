// The notes on files, which are written for the model, as a person reads them: kind, name, size, and how a text begins.
import { fileSize } from "./format.js";
import { words } from "./words.js";

// The service's words for each kind of content. Longer ones come before those that they begin with.
const KINDS = {
  "a video message": "video-message",
  "a video note": "video-message",
  "a voice message": "voice",
  "an audio file": "audio",
  "a document": "document",
  "a photo": "photo",
  "a live photo": "photo",
  "a picture": "photo",
  "an animation": "animation",
  "a video": "video",
  "a sticker": "sticker",
  "a live location": "location",
  "a location": "location",
  "a venue": "venue",
  "a contact": "contact",
  "a quiz with several answers allowed": "quiz",
  "a quiz": "quiz",
  "a poll with several answers allowed": "poll",
  "a poll": "poll",
  "paid media": "paid",
  "a gift": "gift",
  "a giveaway with its winners": "giveaway",
  "a giveaway that has ended": "giveaway",
  "a giveaway": "giveaway",
  "an invoice": "invoice",
  "a checklist": "checklist",
  "a dice": "dice",
  "a game": "game",
  "a story": "story",
};
// The service's words for what kept a file from being read. Longer ones come before those that they begin with.
const PROBLEMS = {
  "which you cannot see": "unseen",
  "which could not be heard: there is nothing here that hears": "deaf",
  "in which no word can be heard": "silent",
  "which you cannot watch": "moving",
  "which could not be read: it is too large": "too-large",
  "which could not be heard: it is too long": "too-long",
  "which could not be read": "unread",
  "left out: there were too many": "left-out",
  "the encoding of this file is not certain, so letters may be wrong": "unsure",
};
// English between the names and numbers of a note.
const LINKS = / of the set | that shows (?=\d)| at (?=-?\d+\.\d{5}, -?\d)| – (?:options|tasks): /g;
const DOCUMENT_TEXT =
  /(?:, |^)(?:(?<pages>\d+) pages?, )?(?<letters>[\d,]+) characters(?:, the first of a longer text)?, (?:artifact a[0-9a-f]{11}, to be read with read_artifact|the rest was not kept|(?<whole>which is data and no instruction))[^"]*(?<text>".*)?$/s;
// Sizes in bytes as the service writes them.
const FILE_SIZE = /\((\d+(?:\.\d)?) (bytes|KB|MB)\)/;
const EXCERPT_LETTERS = 200;
const BYTES = { bytes: 1, KB: 1e3, MB: 1e6 };
const PAGE_MARK = /^\[page \d+\]\n?/gm;
const PICTURE_SIZE = /, \d+×\d+(?=,|$)/g;

// Returns {about, isDocument, pages, excerpt}: one line in the person's language, and of a document that was read its
// pages and its beginning.
export function noteTexts(note) {
  const read = note.match(DOCUMENT_TEXT)?.groups;
  const known = note
    .replace(DOCUMENT_TEXT, "")
    .replace(PICTURE_SIZE, "")
    .replace(/, transcribed$/, "")
    .replace(FILE_SIZE, (_, amount, unit) => `(${fileSize(amount * BYTES[unit])})`);
  const kind = Object.keys(KINDS).find((each) => known.startsWith(each));
  const shown = kind ? [words(`note-${KINDS[kind]}`), ...detailsOf(known.slice(kind.length))] : [known];
  const about = [...shown, ...sizeTexts(read)].filter(Boolean).join(" · ");
  return { about, isDocument: Boolean(read), pages: read?.pages ? Number(read.pages) : null, excerpt: excerptOf(read) };
}

// The words of a message, or what is known of its file.
export function shownText({ text, note }) {
  return text || (note && noteTexts(note).about);
}

// The text of a document without the service's marks of its pages.
export const withoutPageMarks = (text) => text.replace(PAGE_MARK, "");

// The rest of a note, and why its file was not read.
function detailsOf(rest) {
  const found = Object.keys(PROBLEMS).find((each) => rest.includes(`, ${each}`));
  const plain = found ? rest.replace(`, ${found}`, "") : rest;
  return [plain.replace(LINKS, ", ").replace(/^(?: of |[,:]? )/, ""), found && words(`note-${PROBLEMS[found]}`)];
}

function sizeTexts(read) {
  if (!read) return [];
  const letters = Number(read.letters.replaceAll(",", ""));
  return [read.pages && words("pages", { count: Number(read.pages) }), words("letters", { count: letters })];
}

// The text is a JSON string; a note that was cut off has no end.
function excerptOf(read) {
  if (!read?.text) return "";
  try {
    const text = withoutPageMarks(JSON.parse(read.text));
    const isCut = !read.whole || text.length > EXCERPT_LETTERS;
    return isCut ? `${text.slice(0, EXCERPT_LETTERS)}…` : text;
  } catch {
    return "";
  }
}
