// Describes a message in one plain line, for the chat list, reply quotes and announcements.
import { senderName } from "./places.js";

const HIDDEN = "▒";

export function previewText(state, message) {
  const text = message.text ?? message.caption;
  const shown = text && withoutSpoilers(text, message.entities ?? message.caption_entities);
  const words = shown?.replace(/\s+/g, " ").trim();
  const media = mediaName(message);
  if (words !== undefined) return media ? `${media}, ${words}` : words;
  return media ?? serviceText(state, message) ?? "Unsupported message";
}

// The content of a message besides text; null for only text.
function mediaName(message) {
  const kind = Object.keys(MEDIA).find((name) => message[name] !== undefined);
  return kind ? MEDIA[kind](message[kind]) : null;
}

const MEDIA = {
  photo: () => "Photo",
  voice: () => "Voice message",
  audio: ({ title, file_name: name }) => title ?? name ?? "Audio",
  video_note: () => "Video message",
  animation: () => "GIF",
  video: () => "Video",
  document: ({ file_name: name }) => name ?? "File",
  sticker: ({ emoji }) => `${emoji ?? ""} Sticker`.trim(),
  dice: ({ emoji }) => `${emoji} Dice`,
  location: () => "Location",
  contact: ({ first_name: name }) => `Contact: ${name}`,
  poll: ({ question }) => `Poll: ${question}`,
  rich_message: () => "Formatted text",
};

// The text of a service message, or null for an ordinary one.
export function serviceText(state, message) {
  const kind = Object.keys(SERVICE).find((name) => message[name] !== undefined);
  return kind ? SERVICE[kind](message[kind], senderName(state, message.from), state) : null;
}

const names = (users, state) => users.map((user) => senderName(state, user)).join(", ");

const SERVICE = {
  new_chat_members: (users, who, state) => {
    const joined = names(users, state);
    return joined === who ? `${who} joined the group` : `${who} added ${joined}`;
  },
  left_chat_member: (user, who, state) => {
    const left = senderName(state, user);
    return left === who ? `${who} left the group` : `${who} removed ${left}`;
  },
  group_chat_created: (_, who) => `${who} created the group`,
  supergroup_chat_created: () => "The group was created",
  new_chat_title: (title, who) => `${who} renamed the group to “${title}”`,
  forum_topic_created: (topic, who) => `${who} created the topic “${topic.name}”`,
  forum_topic_edited: (topic, who) => `${who} renamed the topic${topic.name ? ` to “${topic.name}”` : ""}`,
  forum_topic_closed: (_, who) => `${who} closed the topic`,
  forum_topic_reopened: (_, who) => `${who} reopened the topic`,
  pinned_message: (_, who) => `${who} pinned a message`,
  migrate_to_chat_id: () => "The group became a supergroup",
  migrate_from_chat_id: () => "The group became a supergroup",
};

function withoutSpoilers(text, entities) {
  let shown = text;
  for (const { type, offset, length } of entities ?? []) {
    if (type !== "spoiler") continue;
    shown = shown.slice(0, offset) + HIDDEN.repeat(length) + shown.slice(offset + length);
  }
  return shown;
}
