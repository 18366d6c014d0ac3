// The panel beside the chat in which a Mini App runs. On a phone it covers the chat.
import { el, fill, iconButton } from "./dom.js";
import { fullName } from "./format.js";
import { themeParams } from "./mini_app_theme.js";

// Telegram's web clients allow the same.
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-modals allow-popups";

export class MiniAppPanel {
  #root;
  #back;
  #title = el("h2", { class: "mini-app-title", dir: "auto" });
  #subtitle = el("p", { class: "mini-app-subtitle", dir: "auto" });
  #body = el("div", { class: "mini-app-body" });
  #actions;
  #frame = null;
  #shown = null;

  constructor(root, actions) {
    this.#root = root;
    this.#actions = actions;
    const pressBack = () => this.#tell("back_button_pressed", {});
    this.#back = iconButton("back", "Back", { "data-testid": "mini-app-back", onclick: pressBack });
    const close = iconButton("close", "Close the Mini App", {
      "data-testid": "mini-app-close",
      onclick: actions.closeMiniApp,
    });
    const names = el("div", { class: "mini-app-names" }, this.#title, this.#subtitle);
    root.append(el("header", { class: "mini-app-head" }, this.#back, names, close), this.#body);
    root.addEventListener("keydown", (event) => event.key === "Escape" && actions.closeMiniApp());
    window.addEventListener("message", (event) => this.#receive(event));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.#tellTheme());
  }

  render(state) {
    const { miniApp } = state;
    this.#root.hidden = miniApp === null;
    this.#back.hidden = !miniApp?.hasBack;
    if (miniApp?.url === this.#shown?.url) return;
    const before = this.#shown;
    this.#shown = miniApp;
    if (miniApp === null) return this.#clear(before.opener);
    this.#title.textContent = state.bot.first_name;
    this.#subtitle.textContent = `Mini App, opened by ${fullName(state.people.get(state.view.personId))}`;
    this.#fill(miniApp.url, `${state.bot.first_name} Mini App`);
    this.#root.focus();
  }

  #fill(url, title) {
    this.#frame = el("iframe", {
      src: url,
      title,
      sandbox: SANDBOX,
      allow: "clipboard-write",
      referrerpolicy: "no-referrer",
      "data-testid": "mini-app-frame",
    });
    this.#frame.addEventListener("load", () => this.#endWaiting());
    this.#body.dataset.waiting = "true";
    fill(this.#body, this.#frame, el("span", { class: "spinner", "aria-hidden": "true" }));
  }

  #endWaiting() {
    this.#body.dataset.waiting = "false";
  }

  // The focus goes back to the button that opened the panel, or else to the field for the next message.
  #clear(opener) {
    const hadFocus = this.#root.contains(document.activeElement) || document.activeElement === document.body;
    this.#frame = null;
    fill(this.#body);
    if (!hadFocus) return;
    if (opener?.isConnected && opener !== document.body) opener.focus();
    else document.querySelector("[data-testid=composer-input]")?.focus();
  }

  // Messages of other windows are ignored, and those of another page in the same frame.
  #receive({ source, origin, data }) {
    if (!this.#frame || source !== this.#frame.contentWindow || origin !== this.#origin) return;
    const { eventType, eventData } = readMessage(data);
    if (eventType === "web_app_ready") this.#endWaiting();
    if (eventType === "web_app_close") this.#actions.closeMiniApp();
    if (eventType === "web_app_setup_back_button")
      this.#actions.showBackOfMiniApp(Boolean(eventData?.is_visible));
    if (eventType === "web_app_request_theme") this.#tellTheme();
    // web_app_expand needs nothing: the panel has its full height.
  }

  #tellTheme() {
    this.#tell("theme_changed", { theme_params: themeParams() });
  }

  #tell(eventType, eventData) {
    this.#frame?.contentWindow.postMessage(JSON.stringify({ eventType, eventData }), this.#origin);
  }

  get #origin() {
    return new URL(this.#shown.url).origin;
  }
}

// Mini Apps send {eventType, eventData} as JSON.
function readMessage(data) {
  try {
    return JSON.parse(data) ?? {};
  } catch {
    return {};
  }
}
