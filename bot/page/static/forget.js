// Forgetting and resetting: a confirmation that says what will be erased, then the receipt.
import { button, el, fill, icon, name } from "./dom.js";
import { dayAndTime } from "./format.js";
import { contextTitle, originOf, senderName } from "./people.js";
import { spinnerBox, stateBox } from "./states.js";
import { words } from "./words.js";

// Each resolves to true if the memory has changed. `run()` resolves to {receipt, gone, used_by}; `run(ids)` forgets
// answers of `used_by` too.
export function confirmForget(messages, bot, run) {
  const previews = messages.map((message) => preview(message, bot));
  const explained = messages.length === 1 ? words.forgetWhatOne : words.forgetWhat;
  return confirmErasure({
    title: words.forgetTitle(messages.length),
    content: [el("ul", { class: "previews", tabindex: "0" }, previews), el("p", null, explained), el("p", null, words.forgetLimits)],
    confirm: words.forget,
    run,
    gone: words.allGone(messages.length),
  });
}

// `run()` resolves to {receipt}, with null if the fact was gone.
export function confirmForgetFact(fact, run) {
  return confirmErasure({
    title: words.forgetFactTitle,
    content: [
      el("p", { class: "preview" }, el("span", { class: "preview-text", dir: "auto" }, fact.statement)),
      el("p", null, words.forgetFactWhat),
      el("p", null, words.forgetFactLimits),
    ],
    confirm: words.deleteButton,
    run,
    gone: words.factGone,
  });
}

// `run()` resolves to {receipt}, with null if the reminder was gone.
export function confirmForgetReminder(reminder, run) {
  return confirmErasure({
    title: words.forgetReminderTitle,
    content: [
      el("p", { class: "preview" }, el("span", { class: "preview-text", dir: "auto" }, reminder.text)),
      el("p", null, reminder.repeats ? words.forgetReminderWhatRepeats : words.forgetReminderWhat),
      el("p", null, words.forgetReminderLimits),
    ],
    confirm: words.deleteButton,
    run,
    gone: words.reminderGone,
  });
}

export function confirmReset(context, run) {
  return confirmErasure({
    title: words.resetTitle,
    content: [
      el("p", { dir: "auto" }, words.resetWhat(contextTitle(context), context.messages)),
      el("p", null, words.resetLimits),
    ],
    confirm: words.resetConfirm,
    run,
  });
}

function preview(message, bot) {
  return el(
    "li",
    { class: "preview" },
    el("p", { class: "dialog-soft" }, name(senderName(message, bot)), ` · ${dayAndTime(message.sent_at)}`),
    originOf(message),
    el("p", { class: "preview-text", dir: "auto" }, message.text || message.note),
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
    fill(body, el("h2", null, title), spinnerBox(words.forgetting));
    try {
      const answer = await run(ids);
      isChanged = true;
      const buttons = [closeButton(words.done, close, "primary")];
      if (answer.used_by?.length > 0) {
        const more = { class: "button danger", onclick: () => erase(answer.used_by), "data-testid": "forget-answers" };
        buttons.push(button(more, words.forgetAnswers));
      }
      fill(body, receiptOf(answer, gone), el("div", { class: "dialog-buttons" }, buttons));
    } catch (error) {
      const again = button({ class: "button primary", onclick: () => erase(ids) }, words.tryAgain);
      const failed = stateBox({ picture: "alert", title: words.failedTitle, text: error.message });
      fill(body, failed, el("div", { class: "dialog-buttons" }, closeButton(words.cancel, close), again));
    }
    isBusy = false;
    body.querySelector("button")?.focus();
  }

  const go = button({ class: "button danger primary", onclick: () => erase(), "data-testid": "confirm-forget" }, confirm);
  const buttons = el("div", { class: "dialog-buttons" }, closeButton(words.keep, close), go);
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
  if (!receipt) return stateBox({ picture: "check", title: words.nothingErased, text: allGone });
  const title = receipt.is_proven ? words.forgotten : words.notProven;
  return el(
    "div",
    { class: "erasure", role: "status", "data-testid": "erasure" },
    el("span", { class: "state-picture" }, icon(receipt.is_proven ? "check" : "clock")),
    el("h2", null, title),
    el("p", { class: "erasure-text", dir: "auto" }, receipt.text),
    gone.length > 0 && el("p", null, words.alreadyGone(gone.length)),
    el(
      "details",
      { class: "counts" },
      el("summary", null, words.counts),
      el(
        "dl",
        { class: "facts" },
        fact(words.erased, amounts(receipt.erased, receipt.vectors_erased)),
        fact(words.readBack, leftAmounts(receipt)),
      ),
    ),
  );
}

function fact(title, values) {
  return el("div", null, el("dt", null, title), values.map((value) => el("dd", null, value)));
}

function leftAmounts(receipt) {
  const left = amounts(receipt.left, receipt.vectors_left ?? 0);
  if (receipt.vectors_left === null) left.push(words.vectorsUnknown);
  if (receipt.used?.answers > 0) left.push(words.answersUsed(receipt.used.answers));
  return left.length > 0 ? left.map((text) => `${words.left}: ${text}`) : [words.nothingLeft];
}

function amounts(records, vectors) {
  const named = Object.entries(records).filter(([, amount]) => amount > 0);
  const texts = named.map(([kind, amount]) => words.records(kind, amount));
  return vectors > 0 ? [...texts, words.entries(vectors)] : texts;
}
