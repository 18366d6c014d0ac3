// The overview of a context: its numbers, summary and tool results, the export and the reset.
import { button, el, fill, icon } from "./dom.js";
import { day, dayAndTime, fileSize, number } from "./format.js";
import { notify } from "./toasts.js";
import { errorBox, skeleton } from "./states.js";
import { words } from "./words.js";

// `api` and `path(rest)` lead to the context's part of the API; `reset()` asks and erases.
export function createOverview({ api, path, context, about, reset, signal }) {
  const numbers = el("dl", { class: "stats card" }, stats(context));
  const root = el(
    "div",
    { class: "overview" },
    numbers,
    section(words.summaryTitle, loaded(() => api.get(path("summary"), { signal }), summary)),
    section(words.artifactsTitle, loaded(() => api.get(path("artifacts"), { signal }), artifacts)),
    (context.may_export || context.may_reset) && section(words.dataTitle(context.kind === "group"), dataPart({ api, path, context, reset })),
    el("p", { class: "about" }, words.about(about.username, about.version)),
  );
  return { root, update: (changed) => fill(numbers, stats(changed)) };
}

function stats(context) {
  const since = context.messages === 0 || context.since === null ? "–" : day(context.since);
  return [
    el("div", null, el("dd", { "data-testid": "stat-messages" }, number(context.messages)), el("dt", null, words.statMessages)),
    el("div", null, el("dd", null, since), el("dt", null, words.statSince)),
  ];
}

function section(title, content) {
  return el("section", { class: "overview-section" }, el("h2", null, title), content);
}

// A box that loads its content, and again after a failure.
function loaded(load, render) {
  const box = el("div", { class: "overview-box" });
  async function show() {
    fill(box, skeleton(2));
    try {
      fill(box, render(await load()));
    } catch (error) {
      if (error.name !== "AbortError") fill(box, el("div", { class: "card" }, errorBox(error, { retry: show, small: true })));
    }
  }
  show();
  return box;
}

function summary({ summary: found }) {
  if (!found) return el("p", { class: "card padded soft" }, words.summaryNone);
  return el(
    "div",
    { class: "card padded", "data-testid": "summary" },
    el("p", { class: "summary-text", dir: "auto" }, found.text),
    el(
      "p",
      { class: "soft" },
      `${words.summaryCovers(found.messages, dayOf(found.first_at), dayOf(found.last_at))} `,
      words.summaryMade(dayAndTime(found.made_at)),
    ),
  );
}

// The first or last message of a summary may have been forgotten since.
function dayOf(seconds) {
  return seconds === null ? null : day(seconds);
}

function artifacts({ artifacts: found }) {
  if (found.length === 0) return el("p", { class: "card padded soft" }, words.artifactsNone);
  return el("ul", { class: "card artifacts" }, found.map(artifact));
}

function artifact({ tool, size, made_at: madeAt, expires_at: expiresAt, preview }) {
  return el(
    "li",
    { class: "artifact", "data-testid": "artifact" },
    icon("file"),
    el(
      "div",
      null,
      el("p", { class: "artifact-name" }, el("bdi", null, tool), ` · ${words.letters(size)}`),
      el("p", { class: "artifact-text", dir: "auto" }, preview),
      el("p", { class: "soft" }, [dayAndTime(madeAt), expiresAt && words.artifactExpires(dayAndTime(expiresAt))].filter(Boolean).join(" · ")),
    ),
  );
}

function dataPart({ api, path, context, reset }) {
  return el(
    "div",
    { class: "card padded data-part" },
    context.may_export && [exportButton(api, path, context), el("p", { class: "soft" }, words.exportHint)],
    context.may_reset && [
      button({ class: "button danger", onclick: reset, "data-testid": "reset" }, icon("eraser"), words.resetButton),
      el("p", { class: "soft" }, words.resetHint),
    ],
  );
}

function exportButton(api, path, { kind }) {
  const send = button({ class: "button", "data-testid": "export" }, icon("download"), words.exportButton(kind === "group"));
  send.addEventListener("click", async () => {
    send.disabled = true;
    notify(words.exporting);
    try {
      const { file_name: file, size } = await api.post(path("export"));
      notify(words.exported(file, fileSize(size)));
    } catch (error) {
      notify(error.message);
    } finally {
      send.disabled = false;
    }
  });
  return send;
}
