// What can be done with a message (reply, edit, copy), and with a line that could not be sent.
import { button, el, icon } from "./dom.js";

export function messageTools({ message, isOwn }, actions) {
  const reply = tool("reply", "Reply", () => actions.startReply(message));
  const edit = tool("edit", "Edit", () => actions.startEdit(message));
  const copy = tool("copy", "Copy text", () => actions.copyText(message.text));
  const hasText = message.text !== undefined;
  return el("div", { class: "tools" }, reply, isOwn && hasText && edit, hasText && copy);
}

export function failureBox(outgoing, actions) {
  const reason = outgoing.error ?? "The page was reloaded while sending.";
  return el(
    "div",
    { class: "failure", role: "alert", "data-testid": "send-error" },
    el("span", { class: "failure-text" }, `Not sent. ${reason}`),
    textButton("retry", "Retry", () => actions.retry(outgoing)),
    textButton("trash", "Delete", () => actions.discard(outgoing)),
  );
}

function tool(name, label, onclick) {
  const names = { title: label, "aria-label": label, "data-testid": `${name}-button`, "data-focus": name };
  return button({ class: "tool", ...names, onclick }, icon(name));
}

function textButton(name, label, onclick) {
  return button({ class: "text-button", "data-testid": label.toLowerCase(), onclick }, icon(name), label);
}
