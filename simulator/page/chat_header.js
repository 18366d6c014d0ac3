// The head of an open chat: its name, its members, or the current action of the bot.
import { chatAvatar } from "./avatar.js";
import { createChatMenu } from "./chat_menu.js";
import { createChatSearch } from "./chat_search.js";
import { button, el, fill, icon, iconButton } from "./dom.js";
import { actionIn, chatTitle, hasBot, isPrivate, senderName } from "./places.js";
import { createTopicTabs } from "./topic_tabs.js";
import { actionText, typingDots } from "./typing.js";

export function createChatHeader(actions) {
  const goBack = () => actions.closeChat();
  const back = iconButton("back", "Back to the chats", {
    class: "back",
    "data-testid": "back",
    onclick: goBack,
  });
  const face = el("span", { class: "header-face" });
  const title = el("h1", { class: "header-title", dir: "auto", "data-testid": "chat-title" });
  const subtitle = el("p", { class: "header-subtitle" });
  const menu = createChatMenu(actions);
  const text = el("div", { class: "header-text" }, title, subtitle);
  const openApp = openAppButton();
  const search = createChatSearch(actions);
  const head = el("header", { class: "chat-header" }, back, face, text, openApp, search.opener, menu.root);
  const topics = createTopicTabs(actions);
  const root = el("div", { class: "chat-head" }, head, search.root, topics.root);

  let shown = null;
  function render(state) {
    const chat = state.chats.get(state.view.chatId);
    const action = actionIn(state, chat.id, state.view.topicId)?.action ?? null;
    const signature = JSON.stringify([chat, action, state.bot, [...state.people.values()]]);
    topics.render(state, chat);
    search.render(state);
    if (signature === shown) return;
    shown = signature;
    fill(face, chatAvatar(state, chat));
    title.textContent = chatTitle(state, chat);
    fill(subtitle, action ? typingLine(state, chat, action) : membersLine(state, chat));
    openApp.hidden = !(isPrivate(chat) && state.bot.has_main_web_app);
    openApp.onclick = () => actions.openMiniApp(chat.id);
    menu.render(state, chat);
  }

  return { root, render };
}

// Telegram calls it "Open App" or shows the name of the bot's menu button.
function openAppButton() {
  const names = { title: "Open memory", "aria-label": "Open memory", "data-testid": "open-app" };
  return button({ class: "open-app", ...names }, icon("app"), el("span", null, "Open memory"));
}

function typingLine(state, chat, action) {
  const text = actionText(isPrivate(chat) ? "" : state.bot.first_name, action);
  return el("span", { class: "is-typing", "data-testid": "typing" }, text, typingDots());
}

function membersLine(state, chat) {
  if (isPrivate(chat)) return [`@${state.bot.username}`];
  const people = chat.members.filter((id) => id !== state.bot.id);
  const names = people.map((id) => senderName(state, state.people.get(id)).split(" ")[0]);
  const size = `${people.length} people${hasBot(state, chat) ? " and the bot" : ""}`;
  return [size, el("span", { class: "names" }, ` · ${names.join(", ")}`)];
}
