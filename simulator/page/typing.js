// Describes the current action of the bot ("Mnemogram is typing…").
import { el } from "./dom.js";

const DOING = {
  typing: "typing",
  upload_photo: "sending a photo",
  record_video: "recording a video",
  upload_video: "sending a video",
  record_voice: "recording a voice message",
  upload_voice: "sending a voice message",
  upload_document: "sending a file",
  choose_sticker: "choosing a sticker",
  find_location: "finding a place",
};

// With an empty name the text has only the action: a chat list and a phone's header have no room for more.
export function actionText(name, action) {
  const doing = DOING[action] ?? "busy";
  return name ? `${name} is ${doing}` : doing;
}

export function typingDots() {
  return el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
}
