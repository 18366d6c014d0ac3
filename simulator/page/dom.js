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

// A round button with only a picture; `label` describes its action.
export function iconButton(name, label, props) {
  const { class: extra = "", ...rest } = props;
  return button({ class: `icon-button ${extra}`, "aria-label": label, title: label, ...rest }, icon(name));
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

export function fill(parent, ...children) {
  parent.replaceChildren(...present(children));
}

// Makes the children of `parent` the given items ({key, signature, build}) and keeps every node
// whose signature did not change, so that focus, selection and revealed spoilers survive.
export function reconcile(parent, items) {
  const wanted = new Set(items.map((item) => item.key));
  for (const node of [...parent.children]) if (!wanted.has(node.dataset.key)) node.remove();
  const old = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  let next = parent.firstElementChild;
  for (const item of items) {
    const known = old.get(item.key);
    const node = known && known.dataset.signature === item.signature ? known : built(item, known);
    if (known && node !== known) {
      if (next === known) next = node;
      replaceKeepingFocus(known, node);
    }
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
}

function built(item, known) {
  const node = item.build(known);
  node.dataset.key = item.key;
  node.dataset.signature = item.signature;
  return node;
}

function replaceKeepingFocus(from, to) {
  const focused = from.contains(document.activeElement) ? document.activeElement : null;
  const name = focused?.dataset.focus;
  from.replaceWith(to);
  if (!focused) return;
  const same = name && to.querySelector(`[data-focus="${CSS.escape(name)}"]`);
  (same || to).focus({ preventScroll: true });
}

function present(children) {
  return children.flat(2).filter((child) => child !== null && child !== undefined && child !== false);
}

function setProp(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "class") node.className = value;
  else node.setAttribute(name, value === true ? "" : String(value));
}
