// Forgetting and resetting: a confirmation that says what will be erased, then the receipt.
import { button, el, fill, icon, name } from "./dom.js";
import { dayAndTime } from "./format.js";
import { noteTexts, shownText } from "./notes.js";
import { contextTitle, originOf, senderName } from "./people.js";
import { spinnerBox, stateBox } from "./states.js";
import { hasWords, sentence, words } from "./words.js";

// Each resolves to true if the memory has changed. `run()` resolves to {receipt, gone, used_by}; `run(ids)` forgets
// answers of `used_by` too.
export function confirmForget(messages, bot, run) {
  const previews = messages.map((message) => preview(message, bot));
  const withDocument = messages.some(({ note }) => note && noteTexts(note).isDocument);
  const explained = messages.length === 1 ? words("forget-what-one") : words("forget-what");
  return confirmErasure({
    title: words(messages.length === 1 ? "forget-title-one" : "forget-title", { count: messages.length }),
    content: [
      el("ul", { class: "previews", tabindex: "0" }, previews),
      el("p", null, explained, withDocument && ` ${words("forget-what-document")}`),
      el("p", null, words("forget-limits")),
    ],
    confirm: words("forget"),
    run,
    gone: words(messages.length === 1 ? "all-gone-one" : "all-gone"),
  });
}

// `run()` resolves to {receipt}, with null if the fact was gone.
export function confirmForgetFact(fact, run) {
  return confirmErasure({
    title: words("forget-fact-title"),
    content: [
      el("p", { class: "preview" }, el("span", { class: "preview-text", dir: "auto" }, fact.statement)),
      el("p", null, words("forget-fact-what")),
      el("p", null, words("forget-fact-limits")),
    ],
    confirm: words("delete-button"),
    run,
    gone: words("fact-gone"),
  });
}

// `run()` resolves to {receipt}, with null if the reminder was gone.
export function confirmForgetReminder(reminder, run) {
  return confirmErasure({
    title: words("forget-reminder-title"),
    content: [
      el("p", { class: "preview" }, el("span", { class: "preview-text", dir: "auto" }, reminder.text)),
      el("p", null, reminder.repeats ? words("forget-reminder-what-repeats") : words("forget-reminder-what")),
      el("p", null, words("forget-reminder-limits")),
    ],
    confirm: words("delete-button"),
    run,
    gone: words("reminder-gone"),
  });
}

export function confirmReset(context, run) {
  return confirmErasure({
    title: words("reset-title"),
    content: [
      el("p", { dir: "auto" }, words("reset-what", { title: contextTitle(context), count: context.messages })),
      el("p", null, words("reset-limits")),
    ],
    confirm: words("reset-confirm"),
    run,
  });
}

function preview(message, bot) {
  return el(
    "li",
    { class: "preview" },
    el("p", { class: "dialog-soft" }, name(senderName(message, bot)), ` · ${dayAndTime(message.sent_at)}`),
    originOf(message),
    el("p", { class: "preview-text", dir: "auto" }, shownText(message)),
  );
}

// `gone` is the sentence for an answer without a receipt.
function confirmErasure({ title, content, confirm, run, gone = "" }) {
  const body = el("div", { class: "dialog-body" });
  const dialog = el("dialog", { class: "dialog", "aria-label": title, "data-testid": "forget-dialog" }, body);
  let isChanged = false;
  let isBusy = false;
  const close = () => dialog.close();

  async function erase(ids) {
    isBusy = true;
    fill(body, el("h2", null, title), spinnerBox(words("forgetting")));
    try {
      const answer = await run(ids);
      isChanged = true;
      const buttons = [closeButton(words("done"), close, "primary")];
      if (answer.used_by?.length > 0) {
        const more = { class: "button danger", onclick: () => erase(answer.used_by), "data-testid": "forget-answers" };
        buttons.push(button(more, words("forget-answers")));
      }
      fill(body, receiptOf(answer, gone), el("div", { class: "dialog-buttons" }, buttons));
    } catch (error) {
      const again = button({ class: "button primary", onclick: () => erase(ids) }, words("try-again"));
      const failed = stateBox({ picture: "alert", title: words("failed-title"), text: sentence(error.message) });
      fill(body, failed, el("div", { class: "dialog-buttons" }, closeButton(words("cancel"), close), again));
    }
    isBusy = false;
    body.querySelector("button")?.focus();
  }

  const go = button({ class: "button danger primary", onclick: () => erase(), "data-testid": "confirm-forget" }, confirm);
  const buttons = el("div", { class: "dialog-buttons" }, closeButton(words("keep"), close), go);
  fill(body, el("h2", null, title), content, buttons);
  return new Promise((resolve) => {
    dialog.addEventListener("cancel", (event) => isBusy && event.preventDefault());
    dialog.addEventListener("click", (event) => event.target === dialog && !isBusy && close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isChanged);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function closeButton(label, close, kind = "plain") {
  return button({ class: `button ${kind}`, onclick: close, "data-testid": "close-dialog" }, label);
}

function receiptOf({ receipt, gone = [] }, allGone) {
  if (!receipt) return stateBox({ picture: "check", title: words("nothing-erased"), text: allGone });
  const title = receipt.is_proven ? words("forgotten") : words("not-proven");
  return el(
    "div",
    { class: "erasure", role: "status", "data-testid": "erasure" },
    el("span", { class: "state-picture" }, icon(receipt.is_proven ? "check" : "clock")),
    el("h2", null, title),
    el("p", { class: "erasure-text", dir: "auto" }, receipt.text),
    gone.length > 0 && el("p", null, words("already-gone", { count: gone.length })),
    el(
      "details",
      { class: "counts" },
      el("summary", null, words("counts")),
      el(
        "dl",
        { class: "facts" },
        fact(words("erased"), amounts(receipt.erased, receipt.vectors_erased)),
        fact(words("read-back"), leftAmounts(receipt)),
      ),
    ),
  );
}

function fact(title, values) {
  return el("div", null, el("dt", null, title), values.map((value) => el("dd", null, value)));
}

function leftAmounts(receipt) {
  const left = amounts(receipt.left, receipt.vectors_left ?? 0);
  if (receipt.vectors_left === null) left.push(words("vectors-unknown"));
  if (receipt.used?.answers > 0) left.push(words("answers-used", { count: receipt.used.answers }));
  return left.length > 0 ? left.map((text) => words("left", { text })) : [words("nothing-left")];
}

function amounts(records, vectors) {
  const named = Object.entries(records).filter(([, amount]) => amount > 0);
  const texts = named.map(([kind, amount]) => recordsText(kind, amount));
  return vectors > 0 ? [...texts, recordsText("entries", vectors)] : texts;
}

function recordsText(kind, count) {
  return hasWords(`records-${kind}`) ? words(`records-${kind}`, { count }) : words("records-other", { name: kind, count });
}
