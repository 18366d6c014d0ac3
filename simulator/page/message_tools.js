// Tools for a message (reply, react, forward, edit, copy), and for a line that could not be sent.
import { button, el, icon } from "./dom.js";

const SIGNS = { react: "smile", delete: "trash" };
const REACTIONS = ["👍", "❤", "😁", "😢", "🎉", "👎"];

export function messageTools({ message, isOwn }, actions) {
  const text = message.text ?? message.caption;
  const palette = reactionPalette(message, actions);
  const reply = tool("reply", "Reply", (event) =>
    actions.startReply(message, chosenIn(event.currentTarget, text)),
  );
  const react = tool("react", "React", (event) => togglePalette(event.currentTarget, palette));
  react.setAttribute("aria-expanded", "false");
  const forward = tool("forward", "Forward", () => actions.forward(message));
  const edit = tool("edit", "Edit", () => actions.startEdit(message));
  const copy = tool("copy", "Copy text", () => actions.copyText(text));
  const remove = tool("delete", "Delete", () => actions.deleteMessage(message));
  const hasText = text !== undefined;
  const props = { class: "tools", onmousedown: keepSelection };
  return el(
    "div",
    props,
    reply,
    react,
    forward,
    isOwn && hasText && edit,
    hasText && copy,
    isOwn && remove,
    palette,
  );
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

// The selected part of the message's text, for a reply with a quote; null without a selection.
function chosenIn(node, text) {
  const selection = getSelection();
  const shown = node.closest(".row")?.querySelector("[data-testid=message-text]");
  if (!selection || selection.isCollapsed || !shown?.contains(selection.anchorNode)) return null;
  const chosen = selection.toString().trim();
  selection.removeAllRanges(); // Left there, it would take what is typed next.
  return chosen !== "" && text?.includes(chosen) ? chosen : null;
}

// A press on a tool must keep the selection in the message.
function keepSelection(event) {
  event.preventDefault();
}

function reactionPalette(message, actions) {
  const choices = REACTIONS.map((emoji) =>
    button(
      {
        class: "palette-choice",
        "aria-label": `React with ${emoji}`,
        "data-testid": "palette-choice",
        onclick: () => actions.react(message, emoji),
      },
      emoji,
    ),
  );
  const palette = el(
    "div",
    { class: "palette", role: "group", "aria-label": "Reactions", "data-testid": "palette", hidden: true },
    choices,
  );
  palette.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    palette.hidden = true;
    palette.parentElement.querySelector("[data-testid=react-button]").focus();
  });
  return palette;
}

function togglePalette(opener, palette) {
  palette.hidden = !palette.hidden;
  opener.setAttribute("aria-expanded", String(!palette.hidden));
  if (!palette.hidden) palette.firstElementChild.focus({ preventScroll: true });
}

function tool(name, label, onclick) {
  const names = { title: label, "aria-label": label, "data-testid": `${name}-button`, "data-focus": name };
  return button({ class: "tool", ...names, onclick }, icon(SIGNS[name] ?? name));
}

function textButton(name, label, onclick) {
  return button({ class: "text-button", "data-testid": label.toLowerCase(), onclick }, icon(name), label);
}
