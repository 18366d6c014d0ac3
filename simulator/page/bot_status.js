// The line under the chat list: the connection of a bot, and the number of pending updates.
import { el, fill } from "./dom.js";

const MODES = {
  webhook: "Bot connected by webhook",
  polling: "Bot connected by polling",
  none: "No bot connected yet",
  lost: "Bot out of sight",
};
const UNKNOWN = { mode: "lost", pending: 0 };

export function createBotStatus() {
  const root = el("p", { class: "bot-status", "data-testid": "bot-status" });
  let shown = null;

  function render({ connection, deliveries }) {
    const { mode, pending } = connection === "lost" ? UNKNOWN : deliveries;
    const waiting = pending > 0 ? ` · ${pending} waiting` : "";
    const text = `${MODES[mode] ?? mode}${waiting}`;
    if (text === shown) return;
    shown = text;
    root.dataset.mode = pending > 0 && mode !== "none" ? "busy" : mode;
    fill(root, el("span", { class: "status-dot", "aria-hidden": "true" }), text);
  }

  return { root, render };
}
