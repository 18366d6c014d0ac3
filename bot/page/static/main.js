// Starts the page: how it was opened, its colours, who looks, and the frame.
import { createApi, keepTrying } from "./api.js";
import { fill, el } from "./dom.js";
import { createFrame } from "./frame.js";
import { keepLaunch, launch } from "./launch.js";
import { errorBox, skeleton, stateBox } from "./states.js";
import { connectTelegram, paintFrame, postEvent } from "./telegram.js";
import { applyTheme } from "./theme.js";
import { sentence, words } from "./words.js";

const app = document.getElementById("app");
let frame = null;

async function start() {
  document.title = words("app-name");
  showTheme(launch.theme);
  connectTelegram({
    onTheme: (theme) => {
      launch.theme = theme;
      keepLaunch(launch);
      showTheme(theme);
    },
    onBack: () => frame?.back(),
  });
  followConnection();
  show(skeleton(6));
  if (launch.dashboard && !(await openSession(launch))) return;
  if (!launch.initData && !launch.session) {
    show(stateBox({ picture: "memory", title: words("outside-title"), text: words("outside-text") }));
    return;
  }
  await openMemory(launch);
}

// Exchanges the single-use token of `mnemogram dashboard`.
async function openSession(launch) {
  const api = createApi({ authorization: `dashboard ${launch.dashboard}`, link: "" });
  try {
    const { session } = await keepTrying(() => api.post("session"), { onTrouble: showTrouble });
    Object.assign(launch, { session, dashboard: "" });
    keepLaunch(launch);
    return true;
  } catch {
    show(stateBox({ picture: "lock", title: words("dashboard-expired-title"), text: words("dashboard-expired-text") }));
    return false;
  }
}

async function openMemory(launch) {
  const authorization = launch.session ? `session ${launch.session}` : `tma ${launch.initData}`;
  const api = createApi({ authorization, link: launch.link, onEnd: (error) => showEnd(error, launch) });

  async function load() {
    frame?.stop();
    show(skeleton(6));
    try {
      const found = await keepTrying(() => api.get("contexts"), { onTrouble: showTrouble });
      frame = createFrame(app, { api, found, reload: load });
    } catch (error) {
      if (app.dataset.state !== "ended") show(errorBox(error, { retry: load }));
    }
  }

  await load();
}

function showEnd(error, { session }) {
  frame?.stop();
  frame = null;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  const expired = session
    ? { title: words("dashboard-expired-title"), text: words("dashboard-expired-text") }
    : { title: words("expired-title"), text: words("expired-text") };
  const refused = { title: words("refused-title"), text: sentence(error.message) };
  const isInTelegram = !session && window.TelegramWebviewProxy;
  const action = isInTelegram ? { label: words("close"), run: () => postEvent("web_app_close") } : null;
  show(stateBox({ picture: "clock", ...(error.code === "expired" ? expired : refused), action }));
  app.dataset.state = "ended";
}

function showTrouble(error, seconds) {
  show(errorBox(error, { seconds }));
}

function show(node) {
  app.dataset.state = "message";
  fill(app, el("main", { class: "gate" }, node));
}

function showTheme(theme) {
  applyTheme(theme);
  paintFrame();
}

function followConnection() {
  const banner = el("p", { class: "banner", role: "status", hidden: true, "data-testid": "offline" }, words("offline"));
  document.body.prepend(banner);
  const look = () => (banner.hidden = navigator.onLine);
  window.addEventListener("online", look);
  window.addEventListener("offline", look);
  look();
}

start();
