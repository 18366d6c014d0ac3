// The overview of a context: its numbers, summary, documents and tool results, the export and the reset.
import { button, el, fill, icon, iconButton } from "./dom.js";
import { day, dayAndTime, fileSize, number } from "./format.js";
import { noteTexts, withoutPageMarks } from "./notes.js";
import { notify } from "./toasts.js";
import { errorBox, skeleton } from "./states.js";
import { sentence, words } from "./words.js";

// `api` and `path(rest)` lead to the context's part of the API; `reset()` asks and erases.
// `openMessage(id)` shows a message in the timeline; `askForget([message])` resolves after an erasure.
export function createOverview({ api, path, context, about, reset, openMessage, askForget, signal }) {
  const numbers = el("dl", { class: "stats card" }, stats(context));
  const documents = createResults({ api, path, openMessage, askForget, signal });
  const root = el(
    "div",
    { class: "overview" },
    numbers,
    context.lines.length > 0 && el("div", { class: "card padded soft" }, ...context.lines.map((line) => el("p", null, line))),
    section(words("summary-title"), loaded(() => api.get(path("summary"), { signal }), summary).root),
    documents.root,
    (context.may_export || context.may_reset) && section(words("data-title", { kind: context.kind }), dataPart({ api, path, context, reset })),
    el("p", { class: "about" }, words("about", { bot: about.name, username: `@${about.username}`, version: about.version })),
  );
  return { root, update: (changed) => fill(numbers, stats(changed)), refresh: documents.load };
}

// Documents that people have sent, and large results of tools: {root, load}. Each kind has a section if there are any.
function createResults({ api, path, openMessage, askForget, signal }) {
  const box = loaded(() => api.get(path("artifacts"), { signal }), ({ artifacts: found }) => {
    const of = (isDocument) => found.filter((one) => one.is_document === isDocument);
    const list = (title, some) => some.length > 0 && section(title, resultsList(some, { openMessage, askForget }));
    const lists = [list(words("documents-title"), of(true)), list(words("results-title"), of(false))].filter(Boolean);
    return lists.length > 0 ? lists : section(words("documents-title"), el("p", { class: "card padded soft" }, words("documents-none")));
  });
  return { root: box.root, load: box.show };
}

function stats(context) {
  const since = context.messages === 0 || context.since === null ? "–" : day(context.since);
  return [
    el("div", null, el("dd", { "data-testid": "stat-messages" }, number(context.messages)), el("dt", null, words("stat-messages", { count: context.messages }))),
    el("div", null, el("dd", null, since), el("dt", null, words("stat-since"))),
  ];
}

function section(title, content) {
  return el("section", { class: "overview-section" }, el("h2", null, title), content);
}

// A box that loads its content, and again after a failure: {root, show}.
function loaded(load, render) {
  const root = el("div", { class: "overview-box" });
  async function show() {
    fill(root, skeleton(2));
    try {
      fill(root, render(await load()));
    } catch (error) {
      if (error.name !== "AbortError") fill(root, el("div", { class: "card" }, errorBox(error, { retry: show, small: true })));
    }
  }
  show();
  return { root, show };
}

function summary({ summary: found }) {
  if (!found) return el("p", { class: "card padded soft" }, words("summary-none"));
  return el(
    "div",
    { class: "card padded", "data-testid": "summary" },
    el("p", { class: "summary-text", dir: "auto" }, found.text),
    el(
      "p",
      { class: "soft" },
      coveredText(found),
      " ",
      words("summary-made", { moment: dayAndTime(found.made_at, { isInside: true }) }),
    ),
  );
}

// The first or last message of a summary may have been forgotten since.
function coveredText({ messages: count, first_at: first, last_at: last }) {
  if (first === null || last === null) return words("summary-covers", { count });
  const [from, to] = [day(first), day(last)];
  return from === to ? words("summary-covers-day", { count, day: from }) : words("summary-covers-span", { count, from, to });
}

function resultsList(found, parts) {
  return el("ul", { class: "card artifacts" }, found.map((one) => artifact(one, parts)));
}

// A document has the actions of the message that it came with: to forget one is to forget the other.
function artifact(found, { openMessage, askForget }) {
  const { is_document: isDocument, name: file, tool, message, size, made_at: madeAt, expires_at: expiresAt, preview } = found;
  const title = isDocument ? file || words("document") : tool;
  const pages = message && noteTexts(message.note).pages;
  const about = [pages && words("pages", { count: pages }), words("letters", { count: size })].filter(Boolean);
  const kept = [dayAndTime(madeAt), expiresAt && words("kept-until", { moment: dayAndTime(expiresAt, { isInside: true }) })].filter(Boolean);
  const open = { class: "source-link", onclick: () => openMessage(message.id), "aria-label": words("show-source"), "data-testid": "artifact-source" };
  const forget = { class: "danger", onclick: () => askForget([message]), "data-testid": "forget-document" };
  return el(
    "li",
    { class: "artifact", "data-testid": isDocument ? "document" : "artifact" },
    icon(isDocument ? "file" : "spark"),
    el(
      "div",
      { class: "artifact-body" },
      el("p", { class: "artifact-name" }, el("bdi", null, title), about.map((text) => ` · ${text}`)),
      el("p", { class: "artifact-text", dir: "auto" }, isDocument ? withoutPageMarks(preview) : preview),
      el("p", { class: "soft" }, kept.join(" · ")),
      message && button(open, icon("chat"), words("source")),
    ),
    message?.may_forget && iconButton("eraser", words("forget-document"), forget),
  );
}

function dataPart({ api, path, context, reset }) {
  return el(
    "div",
    { class: "card padded data-part" },
    context.may_export && [exportButton(api, path, context), el("p", { class: "soft" }, words("export-hint"))],
    context.may_reset && [
      button({ class: "button danger", onclick: reset, "data-testid": "reset" }, icon("eraser"), words("reset-button")),
      el("p", { class: "soft" }, words("reset-hint")),
    ],
  );
}

function exportButton(api, path, { kind }) {
  const send = button({ class: "button", "data-testid": "export" }, icon("download"), words("export-button", { kind }));
  send.addEventListener("click", async () => {
    send.disabled = true;
    notify(words("exporting"));
    try {
      const { file_name: file, size } = await api.post(path("export"));
      notify(words("exported", { name: file, size: fileSize(size) }));
    } catch (error) {
      notify(sentence(error.message));
    } finally {
      send.disabled = false;
    }
  });
  return send;
}
