// One fact: its statement, since when it holds, who said it, its messages, and how to delete or correct it.
import { button, el, fill, icon, iconButton, name } from "./dom.js";
import { day, moment, number } from "./format.js";
import { pieces, sentence, words } from "./words.js";

export const LONGEST_STATEMENT = 300;
const MOST_LINKS = 5;

// `parts`: me, openMessage(id), askForget(fact), correct(fact, statement).
export function factEntry(fact, parts) {
  const props = { class: "fact", "data-testid": "fact", "data-id": fact.id };
  const node = el("li", props);

  function show() {
    fill(node, textPart(fact, parts), fact.may_change && actions(fact, parts, edit));
  }

  function edit() {
    fill(node, editor(fact, parts, cancel));
    node.querySelector("textarea").focus();
  }

  function cancel() {
    show();
    node.querySelector("[data-testid=correct-fact]").focus();
  }

  show();
  return node;
}

function textPart(fact, parts) {
  return el(
    "div",
    { class: "fact-body" },
    el("p", { class: "fact-text", dir: "auto", "data-testid": "fact-text" }, fact.statement),
    el("p", { class: "fact-about" }, whenPart(fact), sayerPart(fact, parts.me)),
    linksPart(fact, parts),
  );
}

function whenPart({ valid_from: from, valid_to: to }) {
  const title = [from, to].filter((seconds) => seconds !== null).map(moment).join(" – ");
  return el("span", { title }, to === null ? words("fact-since", { day: day(from) }) : words("fact-span", { from: day(from), to: day(to) }));
}

function sayerPart({ said_by: sayer, imported_from: service }, me) {
  const imported = service ? [" · ", words("origin-imported", { service })] : null;
  if (sayer === null) return imported;
  const who = sayer.id === me.id ? words("you-inside") : name(sayer.name || words("somebody-inside"));
  return [" · ", pieces("said-by", { name: who }), imported];
}

function correctedMark() {
  return el("span", { class: "fact-corrected", title: words("corrected-hint") }, icon("check"), words("corrected"));
}

function linksPart({ message_ids: ids, is_corrected: isCorrected }, { openMessage }) {
  const links = ids.slice(0, MOST_LINKS).map((id, at) =>
    button(
      {
        class: "fact-link",
        onclick: () => openMessage(id),
        "aria-label": ids.length === 1 ? words("show-source") : words("show-source-of", { number: at + 1, total: ids.length }),
        "data-testid": "fact-message",
      },
      at === 0 && icon("chat"),
      ids.length === 1 ? words("source") : at === 0 ? words("source-of", { number: 1 }) : number(at + 1),
    ),
  );
  return el("p", { class: "fact-links" }, links, isCorrected && correctedMark());
}

function actions(fact, { askForget }, edit) {
  return el(
    "div",
    { class: "fact-actions" },
    iconButton("edit", words("correct-fact"), { onclick: edit, "data-testid": "correct-fact" }),
    iconButton("eraser", words("forget-fact"), { class: "danger", onclick: () => askForget(fact), "data-testid": "forget-fact" }),
  );
}

function editor(fact, { correct }, cancel) {
  const field = el(
    "textarea",
    {
      class: "fact-field",
      rows: "2",
      maxlength: LONGEST_STATEMENT,
      dir: "auto",
      enterkeyhint: "done",
      "aria-label": words("correct-label", { subject: fact.subject }),
      "aria-describedby": `hint-${fact.id}`,
      "data-testid": "fact-field",
    },
    fact.statement,
  );
  const hint = el("p", { class: "soft", id: `hint-${fact.id}` }, words("correct-hint", { limit: LONGEST_STATEMENT }));
  const trouble = el("p", { class: "fact-trouble", role: "alert", dir: "auto", hidden: true });
  const save = button({ class: "button primary", onclick: submit, "data-testid": "save-fact" }, words("save"));
  const keep = button({ class: "button plain", onclick: cancel, "data-testid": "cancel-fact" }, words("cancel"));
  const form = el("form", { class: "fact-editor" }, field, hint, trouble, el("div", { class: "fact-buttons" }, keep, save));

  async function submit() {
    const statement = field.value.trim();
    if (save.disabled || statement === "") return;
    if (statement === fact.statement) {
      cancel();
      return;
    }
    save.disabled = true;
    trouble.hidden = true;
    try {
      await correct(fact, statement);
    } catch (error) {
      if (error.name === "AbortError") return;
      trouble.textContent = sentence(error.message);
      trouble.hidden = false;
      save.disabled = false;
    }
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("input", () => (save.disabled = field.value.trim() === ""));
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      submit();
    }
  });
  form.addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && cancel());
  return form;
}
