// Draws the buttons below a message of the bot, with the effect of each.
import { button, el, icon } from "./dom.js";
import { safeHref } from "./render_text.js";

// `pressed` is the data of the button that waits for its answer, or null.
export function inlineKeyboard(message, pressed, actions) {
  const rows = message.reply_markup?.inline_keyboard;
  if (!rows?.length) return null;
  const lines = rows.map((keys, line) => {
    const cells = keys.map((key, at) =>
      keyButton(message, key, { name: `key-${line}-${at}`, pressed, actions }),
    );
    return el("div", { class: "key-row" }, cells);
  });
  return el("div", { class: "keyboard", role: "group", "aria-label": "Buttons of this message" }, lines);
}

function keyButton(message, key, { name, pressed, actions }) {
  const shared = { class: "key", "data-testid": "inline-button", "data-focus": name };
  const href = key.url && safeHref(key.url);
  if (href) {
    const link = { href, title: href, target: "_blank", rel: "noopener noreferrer" };
    return el("a", { ...shared, ...link }, key.text, icon("link"));
  }
  const isBusy = pressed !== null && pressed === key.callback_data;
  const run = deedOf(message, key, actions);
  const props = { ...shared, disabled: run === null, "aria-busy": String(isBusy), onclick: run };
  const sign = key.web_app && icon("app");
  return button(props, key.text, sign, isBusy && el("span", { class: "spinner", "aria-hidden": "true" }));
}

function deedOf(message, key, actions) {
  if (key.callback_data !== undefined) return () => actions.pressButton(message, key.callback_data);
  if (key.web_app)
    return () =>
      actions.openMiniApp(message.chat.id, { message_id: message.message_id, url: key.web_app.url });
  if (key.copy_text) return () => actions.copyText(key.copy_text.text);
  return null;
}
