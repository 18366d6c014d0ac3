// Short messages over the page, which go away by themselves.
import { el } from "./dom.js";

const SHOWN_MS = 5000;

export function notify(text) {
  const toast = el("p", { class: "toast", dir: "auto", "data-testid": "toast" }, text);
  document.getElementById("toasts").append(toast);
  setTimeout(() => toast.remove(), SHOWN_MS);
}
