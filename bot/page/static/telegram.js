// Talks to the Telegram client around the page, in the protocol of its web apps, without telegram-web-app.js.
// Native clients have an object in the window; web clients and the simulator frame the page.

const isFramed = window.parent !== window;

export function postEvent(eventType, eventData = {}) {
  if (window.TelegramWebviewProxy) window.TelegramWebviewProxy.postEvent(eventType, JSON.stringify(eventData));
  else if (window.external && "notify" in window.external)
    window.external.notify(JSON.stringify({ eventType, eventData }));
  else if (isFramed) window.parent.postMessage(JSON.stringify({ eventType, eventData }), "*");
}

// Calls `onTheme(params)` and `onBack()`.
export function connectTelegram({ onTheme, onBack }) {
  function receive(eventType, eventData) {
    if (eventType === "theme_changed") onTheme(eventData?.theme_params ?? {});
    if (eventType === "back_button_pressed") onBack();
  }

  // Native clients call this function.
  window.Telegram = { WebView: { receiveEvent: receive } };
  window.addEventListener("message", (event) => {
    // Only the window that frames us may speak, and the CSP lists who may frame us.
    if (!isFramed || event.source !== window.parent || typeof event.data !== "string") return;
    try {
      const { eventType, eventData } = JSON.parse(event.data);
      receive(eventType, eventData);
    } catch {
      // Not a message of this protocol.
    }
  });
  postEvent("iframe_ready");
  postEvent("web_app_ready");
  postEvent("web_app_expand");
  // The timeline scrolls in a box of its own: a swipe down there must not close the page.
  postEvent("web_app_setup_swipe_behavior", { allow_vertical_swipe: false });
}

export function paintFrame() {
  postEvent("web_app_set_header_color", { color_key: "bg_color" });
  postEvent("web_app_set_background_color", { color: shownColour("--bg") });
}

export function showBackButton(isVisible) {
  postEvent("web_app_setup_back_button", { is_visible: isVisible });
}

function shownColour(variable) {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
