// Short messages that go away by themselves, and alerts that wait to be read.
import { el, icon } from "./dom.js";

const SHOWN_MS = 5_000;

export function createToasts(root) {
  function notify(text) {
    const toast = el("div", { class: "toast", "data-testid": "toast" }, icon("info"), el("span", null, text));
    root.append(toast);
    setTimeout(() => toast.remove(), SHOWN_MS);
  }

  // A bot asks for an alert when what it says must not be missed.
  function alertText(title, text) {
    const close = el("button", { type: "submit", class: "primary-button" }, "OK");
    const form = el("form", { method: "dialog" }, el("h2", null, title), el("p", null, text), close);
    const dialog = el("dialog", { class: "alert", "data-testid": "alert", "aria-label": title }, form);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  return { notify, alertText };
}
