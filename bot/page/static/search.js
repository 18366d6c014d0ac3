// Search as recall ranks it: a field, and hits that say why they were found.
import { button, el, fill, icon, iconButton, name } from "./dom.js";
import { dayAndTime } from "./format.js";
import { shownText } from "./notes.js";
import { inkOf, originOf, senderAvatar, senderName } from "./people.js";
import { errorBox, skeleton, stateBox } from "./states.js";
import { markedText, reasonList } from "./why.js";
import { words } from "./words.js";

const PAUSE_MS = 500;
const SHORTEST = 2;
const SHOWN_LETTERS = 260;

// `search(query, signal)` resolves to {hits, is_searchable}; `openMessage(message)` shows a hit in the timeline;
// `onChange()` is called when the results appear, change or go.
export function createSearch({ search, bot, selection, openMessage, onChange }) {
  const field = el("input", {
    type: "search",
    class: "search-field",
    placeholder: words("search-label"),
    "aria-label": words("search-label"),
    enterkeyhint: "search",
    autocomplete: "off",
    maxlength: "500",
    dir: "auto",
    "data-testid": "search",
  });
  const clear = iconButton("close", words("clear-search"), { class: "small", onclick: reset, hidden: true });
  const form = el("form", { class: "search-form", role: "search" }, icon("search"), field, clear);
  const status = el("p", { class: "hits-status", role: "status", "aria-live": "polite" });
  const list = el("div", { class: "hits-list" });
  const root = el("section", { class: "hits", "aria-label": words("search-label"), hidden: true }, status, list);
  let hits = [];
  let timer = 0;
  let shown = "";
  let run = new AbortController();

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    find();
    field.blur();
  });
  field.addEventListener("keydown", (event) => event.key === "Escape" && reset());
  field.addEventListener("input", () => {
    clear.hidden = field.value === "";
    clearTimeout(timer);
    if (field.value.trim() === "") reset();
    else if (field.value.trim().length >= SHORTEST) timer = setTimeout(find, PAUSE_MS);
  });

  function reset() {
    clearTimeout(timer);
    run.abort();
    field.value = "";
    clear.hidden = true;
    shown = "";
    hits = [];
    root.hidden = true;
    onChange();
  }

  async function find(isAgain = false) {
    clearTimeout(timer);
    const query = field.value.trim();
    if (query === "" || (query === shown && !isAgain && !root.hidden)) return;
    shown = query;
    run.abort();
    run = new AbortController();
    const { signal } = run;
    root.hidden = false;
    hits = [];
    status.textContent = words("searching");
    fill(list, skeleton(4));
    onChange();
    try {
      const answer = await search(query, signal);
      if (signal.aborted) return;
      hits = answer.hits;
      render(answer.is_searchable);
    } catch (error) {
      if (signal.aborted) return;
      status.textContent = "";
      fill(list, errorBox(error, { retry: () => find(true) }));
    }
    onChange();
  }

  function render(isSearchable = true) {
    const [likely, others] = [hits.filter((hit) => hit.is_likely), hits.filter((hit) => !hit.is_likely)];
    status.textContent = isSearchable ? words(likely.length ? "hits" : "hits-none", { count: likely.length }) : "";
    const nothing = isSearchable
      ? stateBox({ picture: "search", title: words("no-hits-title"), text: words("no-hits-text") })
      : stateBox({ picture: "alert", title: words("unsearchable-title"), text: words("unsearchable-text") });
    const items = (some) => el("ol", null, some.map((hit) => hitItem(hit)));
    const less = others.length > 0 && el("details", { class: "less-likely" }, el("summary", null, words("less-likely", { number: others.length })), items(others));
    fill(list, likely.length === 0 ? nothing : items(likely), less);
    root.scrollTop = 0;
  }

  function hitItem({ message, why }) {
    const sender = senderName(message, bot);
    const open = button(
      { class: "hit-open", title: words("show-in-timeline"), onclick: () => openMessage(message), "data-testid": "open-hit" },
      name(sender, { class: "name sender" }),
      el("span", { class: "hit-date" }, dayAndTime(message.sent_at)),
    );
    const text = shownText(message);
    return el(
      "li",
      { class: `hit card ${inkOf(message)}`, "data-testid": "hit", "data-id": message.id },
      senderAvatar(message),
      el(
        "div",
        { class: "hit-body" },
        open,
        originOf(message),
        el("p", { class: "hit-text", dir: "auto" }, markedText(text, why.words, SHOWN_LETTERS)),
        reasonList(why, message),
      ),
      message.may_forget && selection.picker(message, sender),
    );
  }

  return {
    form,
    root,
    reset,
    hide: () => (root.hidden = true),
    show: () => (root.hidden = false),
    remove: (ids) => {
      hits = hits.filter(({ message }) => !ids.has(message.id));
      if (shown) render();
    },
    // Less likely hits are not offered: in a short chat they are all its messages.
    forgettable: () => {
      const likely = root.hidden ? [] : hits.filter((hit) => hit.is_likely);
      return likely.map(({ message }) => message).filter((message) => message.may_forget);
    },
  };
}
