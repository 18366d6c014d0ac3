// The menu of an open chat: block the bot in a private chat, take it out of a group, and both back again.
import { button, el, fill, icon, iconButton } from "./dom.js";
import { attachMenu } from "./menu.js";
import { hasBot, isPrivate } from "./places.js";

export function createChatMenu(actions) {
  const menu = el("div", { class: "menu at-end", role: "menu", "aria-label": "Chat" });
  const opener = iconButton("more", "More", { "data-testid": "chat-menu" });
  const root = el("div", { class: "chat-menu" }, opener, menu);
  const { close } = attachMenu(root, opener, menu);

  function render(state, chat) {
    const isIn = hasBot(state, chat);
    const choose = () => {
      close();
      actions.setBlocked(chat.id, isIn);
    };
    const props = { class: "menu-item", role: "menuitem", tabindex: "-1", "data-testid": "block" };
    fill(
      menu,
      button({ ...props, onclick: choose }, icon(isIn ? "ban" : "check"), blockLabel(state, chat, isIn)),
    );
  }

  return { root, render };
}

export function blockLabel(state, chat, isIn) {
  const name = state.bot.first_name;
  if (isPrivate(chat)) return `${isIn ? "Block" : "Unblock"} ${name}`;
  return isIn ? `Remove ${name} from the group` : `Add ${name} to the group`;
}
