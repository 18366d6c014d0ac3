// One message of the timeline: writer, time, marks, quote, text, and the receipt of an answer.
import { button, el, icon, iconButton, name } from "./dom.js";
import { moment, timeOfDay } from "./format.js";
import { noteTexts } from "./notes.js";
import { inkOf, isBots, originOf, senderAvatar, senderName } from "./people.js";
import { receiptPart } from "./receipt.js";
import { words } from "./words.js";

const LONG_TEXT = 700;
const LONG_LINES = 12;

// `follows` is true if the entry above has the same writer: then the name is not repeated.
// `parts`: bot, selection, loadReceipt(id), openMessage(message), askForget([message]).
export function messageEntry(message, follows, parts) {
  const sender = senderName(message, parts.bot);
  const classes = ["entry", isBots(message) && "bots", message.is_mine && "mine", follows && "follows"];
  const node = el(
    "article",
    {
      class: `${classes.filter(Boolean).join(" ")} ${inkOf(message)}`,
      tabindex: "-1",
      "aria-label": words("message-label", { sender, moment: moment(message.sent_at) }),
      "data-testid": "message",
      "data-id": message.id,
      "data-at": message.sent_at,
    },
    senderAvatar(message),
    el("div", { class: "bubble card" }, headLine(message, sender, parts), bodyOf(message), footOf(message, parts)),
    message.may_forget && parts.selection.picker(message, sender),
  );
  return node;
}

function headLine(message, sender, { askForget }) {
  const time = el(
    "time",
    { datetime: new Date(message.sent_at * 1000).toISOString(), title: moment(message.sent_at) },
    timeOfDay(message.sent_at),
  );
  const forget = { class: "forget-one", onclick: () => askForget([message]), "data-testid": "forget-one" };
  return el(
    "header",
    { class: "entry-head" },
    name(sender, { class: "name sender", "data-testid": "sender" }),
    el("span", { class: "entry-marks" }, marksOf(message), time),
    message.may_forget && iconButton("eraser", words("forget-one"), forget),
  );
}

function marksOf(message) {
  return [
    message.is_stopped && el("span", { title: words("stopped-hint") }, words("stopped")),
    message.is_refused && el("span", { title: words("refused-hint") }, words("refused")),
    message.edited_at && el("span", { title: words("edited-at", { moment: moment(message.edited_at) }) }, words("edited")),
  ];
}

function bodyOf(message) {
  return [
    originOf(message),
    message.quote &&
      el("blockquote", { class: "quote" }, name(message.quote.sender), el("p", { dir: "auto" }, message.quote.text)),
    message.note && notePart(message.note),
    message.text && textOf(message.text),
  ];
}

// Of a document only its beginning is shown, below its name.
function notePart(note) {
  const { about, excerpt } = noteTexts(note);
  const line = el("p", { class: "entry-note", "data-testid": "note" }, icon("clip"), el("span", { dir: "auto" }, about));
  return [line, excerpt && el("p", { class: "note-excerpt", dir: "auto" }, excerpt)];
}

function textOf(text) {
  const paragraph = el("p", { class: "text", dir: "auto", "data-testid": "text" }, text);
  if (text.length < LONG_TEXT && text.split("\n", LONG_LINES + 1).length <= LONG_LINES) return paragraph;
  paragraph.classList.add("cut");
  const more = button({ class: "text-button", "aria-expanded": "false" }, words("show-all"));
  more.addEventListener("click", () => {
    const isCut = paragraph.classList.toggle("cut");
    more.setAttribute("aria-expanded", String(!isCut));
    more.textContent = isCut ? words("show-all") : words("show-less");
  });
  return [paragraph, more];
}

function footOf(message, parts) {
  return message.has_receipt && receiptPart(message, parts);
}
