// The messages that are selected to be forgotten, and the bar that acts on them.
import { button, el, fill, iconButton } from "./dom.js";
import { moment } from "./format.js";
import { notify } from "./toasts.js";
import { words } from "./words.js";

export const MOST = 100;

export class Selection {
  #messages = new Map();
  #onChange;
  isActive = false;

  // `onChange()` is called after each change.
  constructor(onChange) {
    this.#onChange = onChange;
  }

  get messages() {
    return [...this.#messages.values()];
  }

  begin() {
    this.isActive = true;
    this.#onChange();
  }

  end() {
    this.isActive = false;
    this.#messages.clear();
    this.#onChange();
  }

  add(messages) {
    for (const message of messages) {
      if (this.#messages.size >= MOST) {
        notify(words("too-many", { count: MOST }));
        break;
      }
      this.#messages.set(message.id, message);
    }
    this.#onChange();
  }

  has(id) {
    return this.#messages.has(id);
  }

  // A checkbox over the whole message; it is shown while `isActive`.
  picker(message, sender) {
    const box = el("input", { type: "checkbox", "data-testid": "pick", "data-pick": message.id });
    box.checked = this.has(message.id);
    box.addEventListener("change", () => {
      if (box.checked) this.add([message]);
      else {
        this.#messages.delete(message.id);
        this.#onChange();
      }
    });
    const label = words("select-one", { sender, moment: moment(message.sent_at) });
    return el("label", { class: "picker" }, box, el("span", { class: "visually-hidden" }, label));
  }

  // Makes the checkboxes below `root` show the selection.
  sync(root) {
    root.classList.toggle("selecting", this.isActive);
    for (const box of root.querySelectorAll("[data-pick]")) box.checked = this.has(box.dataset.pick);
  }
}

// `parts`: forget(messages), and hits(), the hits that may be forgotten.
export function createSelectionBar(selection, { forget, hits }) {
  const root = el("div", { class: "selection-bar", role: "toolbar", "aria-label": words("select"), hidden: true });

  function render() {
    root.hidden = !selection.isActive;
    if (root.hidden) {
      root.replaceChildren();
      return;
    }
    const { messages } = selection;
    const all = hits();
    const forgetProps = { class: "button danger", disabled: messages.length === 0, "data-testid": "forget-selected" };
    fill(
      root,
      iconButton("close", words("cancel"), { onclick: () => selection.end(), "data-testid": "cancel-selection" }),
      el("p", { class: "selection-count", role: "status" }, words(messages.length ? "selected" : "selected-none", { count: messages.length })),
      all.length > 0 && button({ class: "text-button", onclick: () => selection.add(all), "data-testid": "select-all" }, words("select-all")),
      button({ ...forgetProps, onclick: () => forget(messages) }, words("forget")),
    );
  }

  return { root, render };
}
