// The receipt of an answer: what was recalled and why, what was left out, model, tokens, cost and tools.
import { button, el, icon, name } from "./dom.js";
import { dayAndTime, money, seconds } from "./format.js";
import { shownText } from "./notes.js";
import { originOf, senderName } from "./people.js";
import { spinnerBox, stateBox } from "./states.js";
import { markedText, reasonList } from "./why.js";
import { hasWords, sentence, words } from "./words.js";

const FIRST_LETTERS = 140;

// A button and a panel that loads the receipt when it is opened.
export function receiptPart(message, parts) {
  const panel = el("div", { class: "receipt", hidden: true, id: `receipt-${message.id}`, "data-testid": "receipt" });
  const toggle = button(
    {
      class: "why-button",
      "aria-expanded": "false",
      "aria-controls": panel.id,
      "data-testid": "why-button",
    },
    icon("spark"),
    el("span", null, words("why")),
    icon("down"),
  );
  toggle.addEventListener("click", () => {
    const isOpen = panel.hidden;
    panel.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) show(panel, message, parts);
  });
  return el("footer", { class: "entry-foot" }, toggle, panel);
}

async function show(panel, message, parts) {
  panel.replaceChildren(spinnerBox(words("why-loading")));
  try {
    const { receipt } = await parts.loadReceipt(message.id);
    panel.replaceChildren(receipt ? receiptBody(receipt, parts) : el("p", { class: "receipt-none" }, words("no-receipt")));
  } catch (error) {
    if (error.name === "AbortError") return;
    const action = { label: words("try-again"), run: () => show(panel, message, parts) };
    panel.replaceChildren(stateBox({ picture: "alert", title: sentence(error.message), small: true, action }));
  }
}

function receiptBody(receipt, parts) {
  const used = receipt.recalled.filter((one) => !one.left_out);
  const leftOut = receipt.recalled.filter((one) => one.left_out);
  return el(
    "div",
    { class: "receipt-body" },
    el("h3", null, words(used.length ? "used" : "used-none", { count: used.length })),
    used.length > 0 && memories(used, parts),
    receipt.standing.length > 0 && [el("h3", null, words("facts-standing")), knownFacts(receipt.standing)],
    receipt.facts.length > 0 && [el("h3", null, words("facts-used", { count: receipt.facts.length })), knownFacts(receipt.facts)],
    leftOut.length > 0 && [el("h3", null, words("left-out-title")), memories(leftOut, parts)],
    facts(receipt),
  );
}

function memories(recalled, parts) {
  return el("ul", { class: "memories" }, recalled.map((one) => memory(one, parts)));
}

function memory({ message, excerpt, why, left_out: leftOut }, { bot, openMessage }) {
  const because = leftOut && el("p", { class: "recalled-left-out", dir: "auto" }, words("left-out-because", { cause: causeText(leftOut) }));
  if (message === null)
    return el("li", { class: "recalled gone", "data-testid": "memory" }, words("forgotten-since"), reasonList(why, null), because);
  const open = button(
    { class: "recalled-open", onclick: () => openMessage(message), title: words("show-in-timeline") },
    name(senderName(message, bot)),
    ` · ${dayAndTime(message.sent_at)}`,
    el("span", { class: "to-source" }, words("source"), icon("next")),
  );
  const text = markedText(excerpt ?? shownText(message), why.words, excerpt === null ? FIRST_LETTERS : Infinity);
  return el(
    "li",
    { class: "recalled", "data-testid": "memory" },
    open,
    originOf(message),
    el("p", { class: "recalled-text", dir: "auto" }, text),
    reasonList(why, message),
    because,
  );
}

function knownFacts(found) {
  return el("ul", { class: "memories" }, found.map(knownFact));
}

function knownFact(fact) {
  const props = { class: `recalled ${fact === null ? "gone" : ""}`, "data-testid": "used-fact" };
  if (fact === null) return el("li", props, words("forgotten-since"));
  return el("li", props, el("p", { class: "recalled-open" }, name(fact.subject)), el("p", { dir: "auto" }, fact.statement));
}

function facts(receipt) {
  const count = receipt.window.messages;
  const conversation = words(receipt.summary ? "window-and-summary" : count ? "window" : "window-none", { count });
  const rows = [
    [words("fact-conversation"), conversation],
    [words("fact-tools"), receipt.tools.map(toolText)],
    [words("fact-left-out"), leftOutTexts(receipt)],
    [words("fact-model"), receipt.models.map(modelText), words("model-explained")],
    [
      words("fact-prompt"),
      receipt.room ? words("prompt-of", { used: receipt.prompt_tokens, room: receipt.room }) : null,
      words("prompt-explained"),
    ],
    [words("fact-cost"), receipt.cost === null ? null : money(receipt.cost)],
    [words("fact-agent"), receipt.agent],
  ];
  return el("dl", { class: "facts" }, rows.map(row));
}

function row([title, value, explained]) {
  const values = [value].flat().filter(Boolean);
  if (values.length === 0) return null;
  const texts = values.map((text) => el("dd", { dir: "auto" }, text));
  return el("div", null, el("dt", null, title), texts, explained && el("dd", { class: "explained" }, explained));
}

const causeText = (cause) => words("cause", { kind: cause, name: cause });
const outcomeText = (outcome) => (outcome === "ok" ? "" : words("outcome", { kind: outcome, name: outcome }));

function partText(part, count) {
  return hasWords(`part-${part}`) ? words(`part-${part}`, { count }) : words("records-other", { name: part, count });
}

function toolText({ name: tool, outcome, seconds: took }) {
  const about = [took !== null && seconds(took), outcomeText(outcome)].filter(Boolean);
  return [el("bdi", null, tool), about.map((text) => ` · ${text}`)];
}

function modelText({ model, prompt_tokens: read, completion_tokens: written }) {
  return [el("bdi", null, model), ` · ${words("tokens", { read, written })}`];
}

// Recalled messages are shown one by one.
function leftOutTexts({ left_out: parts }) {
  const others = parts.filter(({ part }) => part !== "recalled");
  return others.map(({ part, count: amount, why }) => words("part-left-out", { part: partText(part, amount), cause: causeText(why) }));
}
