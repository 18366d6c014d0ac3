// Renders a text and its entities as DOM: formatting, links that are safe to follow, code, quotes, spoilers.
import { button, el, icon } from "./dom.js";
import { buildEntityTree } from "./entity_tree.js";

const SAFE_PROTOCOLS = new Set(["http:", "https:", "mailto:", "tg:"]);
const PLAIN_TAGS = { bold: "strong", italic: "em", underline: "u", strikethrough: "s", code: "code" };
const SPAN_CLASSES = {
  mention: "mention",
  text_mention: "mention",
  hashtag: "tag",
  cashtag: "tag",
  phone_number: "tag",
  fresh: "fresh",
};
const BLOCKS = new Set(["pre", "blockquote", "expandable_blockquote"]);
const LONG_QUOTE = 180;

// `onCommand(text)` is called when a bot command in the text is pressed.
export function renderText(text, entities, onCommand) {
  return renderNodes(buildEntityTree(text, entities), { onCommand });
}

// The address to follow, or null if it is not safe.
export function safeHref(address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  return SAFE_PROTOCOLS.has(url.protocol) ? url.href : null;
}

function renderNodes(nodes, context, startsAfterBlock = false) {
  let afterBlock = startsAfterBlock;
  return nodes.map((node) => {
    const isText = typeof node === "string";
    const rendered = isText ? textAfter(node, afterBlock) : renderEntity(node, context, afterBlock);
    afterBlock = !isText && BLOCKS.has(node.entity.type);
    return rendered;
  });
}

// A block ends its own line: the line break that follows it in the text would show as an empty line.
function textAfter(text, afterBlock) {
  return afterBlock && text.startsWith("\n") ? text.slice(1) : text;
}

function renderEntity({ entity, children }, context, afterBlock) {
  const inside = renderNodes(children, context, afterBlock && !BLOCKS.has(entity.type));
  const render = RENDER[entity.type];
  return render ? render(inside, entity, textOf(children), context) : inlineElement(entity.type, inside);
}

const RENDER = {
  pre: (inside, { language }, plain) => codeBlock(plain, language, inside),
  blockquote: (inside) => el("blockquote", null, inside),
  expandable_blockquote: (inside, _, plain) => expandableQuote(plain, inside),
  spoiler: (inside) => spoiler(inside),
  text_link: (inside, { url }) => link(url ?? "", inside),
  url: (inside, _, plain) => link(/^[a-z][a-z0-9+.-]*:/i.test(plain) ? plain : `https://${plain}`, inside),
  email: (inside, _, plain) => link(`mailto:${plain}`, inside),
  bot_command: (_, __, plain, { onCommand }) => commandButton(plain, onCommand),
};

function inlineElement(type, children) {
  if (PLAIN_TAGS[type]) return el(PLAIN_TAGS[type], null, children);
  return el("span", { class: SPAN_CLASSES[type] ?? null }, children);
}

function link(address, children) {
  const href = safeHref(address);
  if (!href) return el("span", { class: "unsafe-link", title: "This link cannot be opened here" }, children);
  return el("a", { href, title: href, target: "_blank", rel: "noopener noreferrer" }, children);
}

function commandButton(command, onCommand) {
  if (!onCommand) return el("span", { class: "command" }, command);
  const press = () => onCommand(command);
  return button({ class: "command", "data-testid": "command", onclick: press }, command);
}

function codeBlock(plain, language, children) {
  const copy = button({ class: "copy-code", "data-testid": "copy-code" }, icon("copy"), "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(plain);
    copy.lastChild.data = "Copied";
    setTimeout(() => (copy.lastChild.data = "Copy"), 1600);
  });
  const head = el(
    "span",
    { class: "code-head" },
    el("span", { class: "code-language" }, language || "code"),
    copy,
  );
  const body = el("pre", { tabindex: "0", "aria-label": "Code" }, el("code", null, children));
  return el("span", { class: "code-block" }, head, body);
}

function expandableQuote(plain, children) {
  const quote = el("blockquote", { class: "expandable" }, el("span", { class: "quote-body" }, children));
  if (plain.length <= LONG_QUOTE && plain.split("\n").length <= 3) return quote;
  quote.classList.add("collapsed");
  const toggle = button({ class: "quote-toggle", "aria-expanded": "false" }, "Show more");
  toggle.addEventListener("click", () => {
    const collapsed = quote.classList.toggle("collapsed");
    toggle.textContent = collapsed ? "Show more" : "Show less";
    toggle.setAttribute("aria-expanded", String(!collapsed));
  });
  quote.append(toggle);
  return quote;
}

function spoiler(children) {
  const hidden = {
    class: "spoiler",
    role: "button",
    tabindex: "0",
    "aria-label": "Hidden text, press to show it",
  };
  const cover = el("span", hidden, el("span", { class: "spoiler-text" }, children));
  const reveal = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    cover.className = "spoiler revealed";
    for (const name of ["role", "tabindex", "aria-label"]) cover.removeAttribute(name);
    cover.removeEventListener("click", reveal, true);
    cover.removeEventListener("keydown", reveal, true);
  };
  cover.addEventListener("click", reveal, true);
  cover.addEventListener("keydown", reveal, true);
  return cover;
}

function textOf(nodes) {
  return nodes.map((node) => (typeof node === "string" ? node : textOf(node.children))).join("");
}
