// Draws the content of a message besides text: photos, players, files, places, contacts, polls, dice, stickers.
import { el, icon } from "./dom.js";
import { fileSize, playingTime } from "./format.js";

// Returns null for a message with only text.
export function mediaOf(message) {
  const kind = Object.keys(DRAW).find((name) => message[name] !== undefined);
  return kind
    ? el("div", { class: `media media-${kind}`, "data-testid": `media-${kind}` }, DRAW[kind](message[kind]))
    : null;
}

export function fileUrl(fileId) {
  return `/api/files/${encodeURIComponent(fileId)}`;
}

const DRAW = {
  photo: (sizes) => photo(sizes.at(-1)),
  voice: (voice) => player("Voice message", voice, icon("mic")),
  audio: (audio) => player(audio.title ?? audio.file_name ?? "Audio", audio, null),
  video_note: (video) => film(video, "round"),
  animation: (video) => film(video, ""),
  video: (video) => film(video, ""),
  document: (file) => download(file),
  sticker: (one) =>
    el(
      "span",
      { class: "sticker", role: "img", "aria-label": `Sticker ${one.emoji ?? ""}` },
      one.emoji ?? "🏷",
    ),
  dice: ({ emoji, value }) =>
    el("span", { class: "sticker", title: `${emoji} ${value}` }, emoji, el("b", null, String(value))),
  venue: ({ title, address }) => card("pin", title, address),
  location: ({ latitude, longitude }) => card("pin", "Location", `${latitude}, ${longitude}`),
  contact: (one) =>
    card("person", [one.first_name, one.last_name].filter(Boolean).join(" "), one.phone_number),
  poll: (poll) => ballot(poll),
  rich_message: ({ blocks }) => el("div", { class: "text", dir: "auto" }, wordsOf(blocks).trim()),
};

// The words of a rich message, one line for each block.
function wordsOf(part) {
  if (typeof part === "string") return part;
  if (Array.isArray(part)) return part.map(wordsOf).join("");
  const { type, label, text, caption, summary, items, blocks, cells, credit } = part ?? {};
  const inner = [label && `${label} `, summary, text, caption, items, blocks, cells, credit];
  const words = inner.map((each) => wordsOf(each ?? "")).join("");
  return blocks || items || ["paragraph", "heading", "pre"].includes(type) ? `${words}\n` : words;
}

function photo({ file_id: id, width, height }) {
  const href = fileUrl(id);
  const picture = el("img", { src: href, alt: "Photo", width, height, loading: "lazy", decoding: "async" });
  return el("a", { href, target: "_blank", rel: "noopener", title: "Open the photo" }, picture);
}

function player(name, { file_id: id, duration, file_size: size }, mark) {
  const about = [duration ? playingTime(duration) : null, size ? fileSize(size) : null]
    .filter(Boolean)
    .join(" · ");
  const line = el("span", { class: "player-name" }, mark, name, el("span", { class: "media-hint" }, about));
  return [line, el("audio", { controls: true, preload: "metadata", src: fileUrl(id), "aria-label": name })];
}

function film({ file_id: id, width, height }, shape) {
  return el("video", { controls: true, preload: "metadata", class: shape, src: fileUrl(id), width, height });
}

function download({ file_id: id, file_name: name = "file", file_size: size }) {
  const text = el(
    "span",
    { class: "file-text" },
    el("span", { class: "file-name", dir: "auto" }, name),
    el("span", { class: "media-hint" }, size ? fileSize(size) : ""),
  );
  return el(
    "a",
    { class: "file-link", href: fileUrl(id), download: name, title: `Download ${name}` },
    el("span", { class: "file-face" }, icon("file")),
    text,
  );
}

function card(sign, title, line) {
  const text = el(
    "span",
    { class: "file-text" },
    el("span", { class: "file-name", dir: "auto" }, title),
    el("span", { class: "media-hint" }, line ?? ""),
  );
  return el("span", { class: "file-link" }, el("span", { class: "file-face" }, icon(sign)), text);
}

function ballot({ question, options }) {
  const rows = options.map(({ text, voter_count: votes }) =>
    el("li", null, el("span", null, text), el("b", null, String(votes ?? 0))),
  );
  return [el("strong", { dir: "auto" }, question), el("ul", { class: "ballot" }, rows)];
}
