// The left side: who you are, your chats, and the bot's connection.
import { createBotStatus } from "./bot_status.js";
import { createChatList } from "./chat_list.js";
import { createPersonSwitch } from "./person_switch.js";

export function createSidebar(root, actions, composing) {
  const parts = [createPersonSwitch(actions), createChatList(actions, composing), createBotStatus()];
  root.append(...parts.map((part) => part.root));

  function render(state) {
    if (!state.loaded) return;
    for (const part of parts) part.render(state);
  }

  return { render };
}
