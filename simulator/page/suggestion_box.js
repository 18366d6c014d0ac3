// The suggestions above the composer: arrow keys move in them, Enter or Tab takes one, Escape closes them.
import { personAvatar } from "./avatar.js";
import { el, fill, icon } from "./dom.js";

export class SuggestionBox {
  #input;
  #onTake;
  #offer = null;
  #chosen = 0;

  // Calls `onTake(offer, option)` with the chosen option.
  constructor(input, onTake) {
    this.#input = input;
    this.#onTake = onTake;
    const props = { class: "suggestions", id: "suggestions", role: "listbox", "aria-label": "Suggestions" };
    this.root = el("div", { ...props, "data-testid": "suggestions", hidden: true });
  }

  show(offer, state) {
    this.#offer = offer;
    this.#chosen = 0;
    this.root.hidden = offer === null;
    fill(this.root, offer ? offer.options.map((option, at) => this.#row(state, option, at)) : []);
    this.#mark();
  }

  // True if the key was handled here.
  onKey(event) {
    if (!this.#offer) return false;
    if (event.key === "Escape") this.show(null);
    else if (event.key === "ArrowDown") this.#move(1);
    else if (event.key === "ArrowUp") this.#move(-1);
    else if ((event.key !== "Enter" || event.shiftKey) && event.key !== "Tab") return false;
    else if (event.key === "Enter" && this.#isWrittenWhole()) {
      this.show(null);
      return false;
    } else this.#take(this.#offer.options[this.#chosen]);
    event.preventDefault();
    return true;
  }

  // Enter sends a text that needs no completion, as in Telegram.
  #isWrittenWhole() {
    const { start, end, options } = this.#offer;
    return options[this.#chosen].insert === this.#input.value.slice(start, end);
  }

  #row(state, option, at) {
    const props = { class: "suggestion", role: "option", id: `suggestion-${at}` };
    const face = option.user
      ? personAvatar(state, option.user, "small")
      : el("span", { class: "command-face" }, icon("slash"));
    const label = el("span", { class: "suggestion-label" }, option.label);
    const hint = el("span", { class: "suggestion-hint" }, option.hint);
    // The press must not take the focus away from the field.
    const press = (event) => {
      event.preventDefault();
      this.#take(option);
    };
    return el(
      "div",
      { ...props, "data-testid": "suggestion-option", onpointerdown: press },
      face,
      label,
      hint,
    );
  }

  #mark() {
    for (const [at, node] of [...this.root.children].entries()) {
      node.setAttribute("aria-selected", String(at === this.#chosen));
      if (at === this.#chosen) node.scrollIntoView({ block: "nearest" });
    }
    if (this.#offer) this.#input.setAttribute("aria-activedescendant", `suggestion-${this.#chosen}`);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  #move(step) {
    const count = this.#offer.options.length;
    this.#chosen = (this.#chosen + step + count) % count;
    this.#mark();
  }

  #take(option) {
    const offer = this.#offer;
    this.show(null);
    this.#onTake(offer, option);
  }
}
