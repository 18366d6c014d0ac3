// The files of the message being written: chosen, pasted or dropped, shown above the field until they are sent.
import { button, el, fill, icon, iconButton } from "./dom.js";
import { fileSize } from "./format.js";
import { attachMenu } from "./menu.js";

export const MOST_FILES = 10;
const LARGEST = 64 * 1024 * 1024;
const PICTURES = new Set(["image/png", "image/jpeg", "image/webp"]);
// Kinds of files that can share an album.
const FAMILIES = { photo: "picture", video: "picture", audio: "audio", document: "document" };

const CHOICES = [
  { name: "photo", label: "Photo or video", accept: "image/*,video/*", kindOf: pictureKind },
  { name: "file", label: "File", accept: "", kindOf: () => "document" },
  {
    name: "mic",
    label: "Voice message from a file",
    accept: "audio/*,.ogg,.oga,.opus",
    kindOf: () => "voice",
  },
];

// Calls `onChosen(files)`, and `notify(text)` with the reason for a refused file.
export function createAttachButton(onChosen, notify) {
  const menu = el("div", { class: "menu at-start above", role: "menu", "aria-label": "Attach" });
  const opener = iconButton("clip", "Attach", { "data-testid": "attach" });
  const root = el("div", { class: "attach" }, opener, menu);
  const { close } = attachMenu(root, opener, menu);
  const inputs = Object.fromEntries(
    CHOICES.map((choice) => [choice.name, fileInput(choice, onChosen, notify)]),
  );
  const items = CHOICES.map(({ name, label }) => {
    const choose = () => {
      close();
      inputs[name].click();
    };
    const props = { class: "menu-item", role: "menuitem", tabindex: "-1", "data-testid": `attach-${name}` };
    return button({ ...props, onclick: choose }, icon(name), label);
  });
  fill(menu, items);
  root.append(...Object.values(inputs));
  return { root, chooseVoice: () => inputs.mic.click() };
}

// Pasted or dropped items: pictures become photos, others become files.
export function takenFiles(transfer, notify) {
  return described([...(transfer?.files ?? [])], pictureKind, notify);
}

// An album in Telegram has one family of kinds. Other combinations are sent as files.
export function asAlbum(files) {
  const families = new Set(files.map(({ kind }) => FAMILIES[kind] ?? "alone"));
  return files.length < 2 || (families.size < 2 && !families.has("alone"))
    ? files
    : files.map((file) => ({ ...file, kind: "document" }));
}

export function createTray(onRemove) {
  const root = el("div", {
    class: "tray",
    role: "list",
    "aria-label": "Attached files",
    "data-testid": "tray",
    hidden: true,
  });
  let shown = [];

  function render(files) {
    if (files.length === shown.length && files.every((file, at) => file === shown[at])) return;
    shown = [...files];
    for (const picture of root.querySelectorAll("img")) URL.revokeObjectURL(picture.src);
    root.hidden = files.length === 0;
    fill(
      root,
      files.map((file) => tile(file, () => onRemove(file))),
    );
  }

  return { root, render };
}

function tile(item, remove) {
  const { kind, file, name } = item;
  const face =
    kind === "photo"
      ? el("img", { src: URL.createObjectURL(file), alt: "" })
      : icon(kind === "voice" ? "mic" : "file");
  const text = el(
    "span",
    { class: "tile-name", dir: "auto" },
    name,
    el("span", { class: "media-hint" }, fileSize(file.size)),
  );
  const close = iconButton("close", `Remove ${name}`, {
    class: "small",
    "data-testid": "detach",
    onclick: remove,
  });
  return el(
    "span",
    { class: `tile tile-${kind}`, role: "listitem", "data-testid": "tile" },
    face,
    text,
    close,
  );
}

function fileInput({ name, accept, kindOf }, onChosen, notify) {
  const input = el("input", {
    type: "file",
    accept,
    multiple: true,
    class: "visually-hidden",
    tabindex: "-1",
    "aria-hidden": "true",
    "data-testid": `choose-${name}`,
  });
  input.addEventListener("change", () => {
    onChosen(described([...input.files], kindOf, notify));
    input.value = "";
  });
  return input;
}

function described(files, kindOf, notify) {
  const fitting = files.filter((file) => file.size > 0 && file.size <= LARGEST);
  if (fitting.length < files.length) notify("Empty files, and files of more than 64 MB, cannot be sent.");
  if (fitting.length > MOST_FILES)
    notify(`A message has at most ${MOST_FILES} files: the first ones were taken.`);
  return fitting
    .slice(0, MOST_FILES)
    .map((file) => ({ kind: kindOf(file), file, name: file.name || "file" }));
}

function pictureKind({ type }) {
  if (PICTURES.has(type)) return "photo";
  if (type === "image/gif") return "animation";
  return type.startsWith("video/") ? "video" : "document";
}
