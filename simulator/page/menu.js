// A button that opens a menu: arrow keys move in it, Escape or a press elsewhere closes it.

// `root` holds both `button` and `menu`; returns close().
export function attachMenu(root, button, menu) {
  menu.hidden = true;
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-expanded", "false");

  function toggle(isOpen) {
    menu.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen)
      (menu.querySelector("[aria-checked=true]") ?? menu.querySelector("[role^=menuitem]"))?.focus();
  }

  function close() {
    if (menu.hidden) return;
    const hadFocus = menu.contains(document.activeElement);
    toggle(false);
    if (hadFocus) button.focus();
  }

  button.addEventListener("click", () => toggle(menu.hidden));
  root.addEventListener("keydown", (event) => {
    if (menu.hidden) return;
    if (event.key === "Escape") close();
    moveFocus(event, [...menu.querySelectorAll("[role^=menuitem]")]);
  });
  root.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !root.contains(event.relatedTarget)) toggle(false);
  });
  document.addEventListener("pointerdown", (event) => {
    if (!root.contains(event.target)) toggle(false);
  });
  return { close };
}

function moveFocus(event, items) {
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length).focus();
}
