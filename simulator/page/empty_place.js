// The content of an empty chat: the purpose of the bot, and first lines to try.
import { personAvatar, chatAvatar } from "./avatar.js";
import { button, el } from "./dom.js";
import { isPrivate } from "./places.js";

// One item for the timeline's list.
export function emptyPlace(state, actions) {
  const chat = state.chats.get(state.view.chatId);
  const content = isPrivate(chat) ? privateContent(state) : groupContent(state);
  const chips = content.lines.map((line) => {
    const props = { class: "chip", "data-testid": "suggestion", onclick: () => actions.fillAndFocus(line) };
    return button(props, line);
  });
  return {
    key: "empty",
    signature: JSON.stringify(content),
    build: () =>
      el(
        "li",
        { class: "empty-place", "data-testid": "empty-place" },
        el(
          "div",
          { class: "empty-card" },
          isPrivate(chat) ? personAvatar(state, state.bot, "huge") : chatAvatar(state, chat),
          el("h2", null, content.title),
          el("p", null, content.text),
          el("p", { class: "chips-label" }, content.hint),
          el("div", { class: "chips" }, chips),
        ),
      ),
  };
}

function privateContent({ bot }) {
  return {
    title: `This is your chat with ${bot.first_name}`,
    text: "It remembers what you tell it here, and finds it again when you ask. Nobody else's chat can see it.",
    hint: "Tell the bot something to remember, then ask about it:",
    lines: ["My sister Anna lives in Lisbon", "Where does Anna live?", "Remind me in 2 minutes to stretch", "/help"],
  };
}

function groupContent({ bot }) {
  const handle = `@${bot.username}`;
  return {
    title: "Nothing was said here yet",
    text: `In a group the bot answers when it is spoken to: mention ${handle}, reply to it, or send a command.`,
    hint: "To begin with:",
    lines: [`${handle} we meet on Saturday at ten`, `${handle} when do we meet?`, "/memory"],
  };
}
