// The bars at the top: the notice of the server, and a lost connection with a button to reconnect.
import { button, el, icon, iconButton, reconcile } from "./dom.js";
import { keep, loadKept } from "./keep.js";

export function createBanners(root, reconnect, refresh) {
  function dismiss(notice) {
    keep("dismissed-notice", notice);
    refresh();
  }

  function render(state) {
    const items = [];
    if (state.connection === "lost") items.push(lostBanner(reconnect));
    if (state.notice && loadKept("dismissed-notice", null) !== state.notice)
      items.push(noticeBanner(state.notice, dismiss));
    reconcile(root, items);
  }

  return { render };
}

function lostBanner(reconnect) {
  const again = button({ class: "text-button", onclick: reconnect }, "Try now");
  const text = el("span", { class: "banner-text" }, "Connection lost. Reconnecting…");
  const props = { class: "banner lost", role: "alert", "data-testid": "connection-banner" };
  return {
    key: "lost",
    signature: "",
    build: () => el("div", props, el("span", { class: "spinner", "aria-hidden": "true" }), text, again),
  };
}

// One line on a phone; a press shows the rest.
function noticeText(notice) {
  const toggle = () => text.setAttribute("aria-expanded", String(text.ariaExpanded !== "true"));
  const text = button({ class: "banner-text", "aria-expanded": "false", onclick: toggle }, notice);
  return text;
}

function noticeBanner(notice, dismiss) {
  const close = iconButton("close", "Hide this notice", { class: "small", onclick: () => dismiss(notice) });
  const props = { class: "banner notice", role: "note", "data-testid": "notice" };
  return {
    key: "notice",
    signature: notice,
    build: () =>
      el("div", props, icon("info"), noticeText(notice), close),
  };
}
