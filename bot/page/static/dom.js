// Builds DOM nodes from plain values; text only ever enters as text nodes, never as markup.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) setProp(node, name, value);
  node.append(...present(children));
  return node;
}

export function button(props, ...children) {
  return el("button", { type: "button", ...props }, ...children);
}

// A button with only a picture; `label` describes its action.
export function iconButton(name, label, props) {
  const { class: extra = "", ...rest } = props;
  return button({ class: `icon-button ${extra}`, "aria-label": label, title: label, ...rest }, icon(name));
}

export function icon(name) {
  return svg("svg", { class: `icon icon-${name}`, "aria-hidden": "true" }, svg("use", { href: `#icon-${name}` }));
}

export function svg(tag, props, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props ?? {})) setProp(node, name, value);
  node.append(...present(children));
  return node;
}

// A name or title that somebody else chose: its direction does not change the text around it.
export function name(text, props) {
  return el("bdi", { class: "name", ...props }, text);
}

export function fill(parent, ...children) {
  parent.replaceChildren(...present(children));
  return parent;
}

function present(children) {
  return children.flat(3).filter((child) => child !== null && child !== undefined && child !== false);
}

function setProp(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else node.setAttribute(name, value === true ? "" : String(value));
}
