// Computes suggestions for a text: people after "@", commands of the chat after "/".
import { fullName } from "./format.js";

const LIMIT = 20;

// Returns {start, end, options: [{kind, insert, label, hint, user?}]} or null; positions are in `text`.
export function suggest({ text, caret, commands, users }) {
  const before = text.slice(0, caret);
  const command = /^\/(\w*)$/.exec(before);
  if (command) return offer(0, caret, commandOptions(commands, command[1].toLowerCase()));
  const mention = /(?:^|[\s(])@(\w*)$/.exec(before);
  if (mention)
    return offer(caret - mention[1].length - 1, caret, mentionOptions(users, mention[1].toLowerCase()));
  return null;
}

// The question of a text "@bot question"; null for other texts.
export function inlineQuery(text, bot) {
  const [, name, query] = /^@(\w+)\s+(\S[^]*)$/.exec(text) ?? [];
  return name?.toLowerCase() === bot.username.toLowerCase() ? query.trim().slice(0, 256) : null;
}

export function insertOption(text, { start, end }, option) {
  const rest = text.slice(end);
  const space = rest.startsWith(" ") ? "" : " ";
  const head = text.slice(0, start) + option.insert + space;
  return { text: head + rest, caret: head.length + (space ? 0 : 1) };
}

function offer(start, end, options) {
  return options.length > 0 ? { start, end, options: options.slice(0, LIMIT) } : null;
}

function commandOptions(commands, typed) {
  return commands
    .filter(({ command }) => command.startsWith(typed))
    .map(({ command, description }) => ({
      kind: "command",
      insert: `/${command}`,
      label: `/${command}`,
      hint: description,
    }));
}

function mentionOptions(users, typed) {
  return users
    .filter((user) => user.username)
    .filter(
      (user) =>
        user.username.toLowerCase().startsWith(typed) || fullName(user).toLowerCase().startsWith(typed),
    )
    .map((user) => ({
      kind: "mention",
      insert: `@${user.username}`,
      label: fullName(user),
      hint: `@${user.username}`,
      user,
    }));
}
