// The menu of an open chat: members, name, topics, and faults of Telegram.
import { FAULTS } from "./chat_deeds.js";
import { button, el, fill, icon, iconButton } from "./dom.js";
import { attachMenu } from "./menu.js";
import { hasBot, hasTopics, isPrivate, senderName } from "./places.js";

export function createChatMenu(actions) {
  const menu = el("div", { class: "menu at-end", role: "menu", "aria-label": "Chat" });
  const opener = iconButton("more", "More", { "data-testid": "chat-menu" });
  const root = el("div", { class: "chat-menu" }, opener, menu);
  const { close } = attachMenu(root, opener, menu);

  function render(state, chat) {
    const isGone = Boolean(chat.migrated_to);
    const deeds = isGone
      ? []
      : isPrivate(chat)
        ? privateDeeds(state, chat, actions)
        : groupDeeds(state, chat, actions);
    const heading = el("div", { class: "menu-heading", role: "presentation" }, "As Telegram");
    fill(menu, [...deeds.map(item), heading, ...faultDeeds(chat, actions).map(item)]);
  }

  function item({ name, sign, label, run }) {
    const choose = () => {
      close();
      run();
    };
    const props = { class: "menu-item", role: "menuitem", tabindex: "-1", "data-testid": name };
    return button({ ...props, onclick: choose }, icon(sign), label);
  }

  return { root, render };
}

export function blockLabel(state, chat, isIn) {
  const name = state.bot.first_name;
  if (isPrivate(chat)) return `${isIn ? "Block" : "Unblock"} ${name}`;
  return isIn ? `Remove ${name} from the group` : `Add ${name} to the group`;
}

function privateDeeds(state, chat, actions) {
  return [...topicDeeds(state, chat, actions), blockDeed(state, chat, actions)];
}

function groupDeeds(state, chat, actions) {
  const { bot, view } = state;
  const isIn = hasBot(state, chat);
  const isAdmin = chat.admins.includes(bot.id);
  const missing = [...state.people.values()].filter((person) => !chat.members.includes(person.id));
  const promotion = isAdmin
    ? { sign: "star", label: `${bot.first_name} is no longer an administrator`, action: "demote" }
    : { sign: "star", label: `Make ${bot.first_name} an administrator`, action: "promote" };
  return [
    { name: "rename", sign: "edit", label: "Rename the group", run: () => actions.rename(chat) },
    ...topicDeeds(state, chat, actions),
    ...missing.map((person) => ({
      name: "add-person",
      sign: "person",
      label: `Add ${senderName(state, person)}`,
      run: () => actions.changeMember(chat, "add", person.id),
    })),
    ...(isIn
      ? [{ ...promotion, name: "promote", run: () => actions.changeMember(chat, promotion.action, bot.id) }]
      : []),
    ...peopleDeeds(state, chat, actions),
    blockDeed(state, chat, actions),
    ...(chat.type === "group"
      ? [{ name: "upgrade", sign: "up", label: "Make it a supergroup", run: () => actions.upgrade(chat) }]
      : []),
    {
      name: "leave",
      sign: "leave",
      label: "Leave the group",
      run: () => actions.changeMember(chat, "leave", view.personId),
    },
  ];
}

// Administrators promote and demote others, but not the creator of the group, who is the first administrator.
function peopleDeeds({ people, view }, chat, actions) {
  if (!chat.admins.includes(view.personId)) return [];
  const others = [...people.values()].filter(
    ({ id }) => chat.members.includes(id) && id !== view.personId && id !== chat.admins[0],
  );
  return others.map((person) => {
    const isAdmin = chat.admins.includes(person.id);
    const name = senderName({ people }, person);
    const label = isAdmin ? `${name} is no longer an administrator` : `Make ${name} an administrator`;
    const run = () => actions.changeMember(chat, isAdmin ? "demote" : "promote", person.id);
    return { name: `promote-${person.id}`, sign: "star", label, run };
  });
}

function topicDeeds(state, chat, actions) {
  if (!hasTopics(chat)) return [];
  const { topicId } = state.view;
  const start = {
    name: "start-topic",
    sign: "hash",
    label: "New topic",
    run: () => actions.startTopic(chat),
  };
  const remove = {
    name: "delete-topic",
    sign: "trash",
    label: "Delete this topic",
    run: () => actions.deleteTopic(chat, topicId),
  };
  return topicId === null ? [start] : [start, remove];
}

function blockDeed(state, chat, actions) {
  const isIn = hasBot(state, chat);
  const run = () => actions.setBlocked(chat.id, isIn);
  return { name: "block", sign: isIn ? "ban" : "check", label: blockLabel(state, chat, isIn), run };
}

function faultDeeds(chat, actions) {
  const orders = Object.entries(FAULTS).map(([name, { label }]) => ({
    name: `fault-${name}`,
    sign: "bolt",
    label,
    run: () => actions.orderFault(chat, name),
  }));
  return [
    ...orders,
    { name: "fault-clear", sign: "check", label: "Work as usual again", run: actions.clearFaults },
  ];
}
