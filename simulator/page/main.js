// Puts the chat page together: state, connection, actions, views.
import { createActions } from "./actions.js";
import { createAnnouncer } from "./announcer.js";
import { api } from "./api.js";
import { createBanners } from "./banners.js";
import { ChatPane } from "./chat_pane.js";
import { createComposing } from "./composing.js";
import { followEvents } from "./events.js";
import { keep, loadKept } from "./keep.js";
import { MiniAppPanel } from "./mini_app_panel.js";
import { readBotLink } from "./mini_apps.js";
import { allowedView } from "./navigation.js";
import { chatsOf, unreadOf } from "./places.js";
import { readRoute, writeRoute } from "./route.js";
import { Sending } from "./sending.js";
import { createSidebar } from "./sidebar.js";
import { createStore } from "./store.js";
import { createToasts } from "./toasts.js";
import { applyWorld } from "./world.js";
import { applyEvent } from "./world_events.js";

const WIDE = "(min-width: 720px)";

function start() {
  const store = createStore();
  const toasts = createToasts(document.getElementById("toasts"));
  const announcer = createAnnouncer(document.getElementById("announcer"));
  const composing = createComposing();
  const sending = new Sending(store, api);
  const actions = createActions({ store, api, sending, composing, notify: toasts.notify });
  const sidebar = createSidebar(document.getElementById("sidebar"), actions, composing);
  const pane = new ChatPane(document.getElementById("chat"), actions, composing, toasts.notify);
  const miniApp = new MiniAppPanel(document.getElementById("mini-app"), actions);
  sending.restore();
  const events = followEvents({
    loadWorld: api.loadWorld,
    onWorld: (world) => store.change((state) => enterWorld(state, world)),
    onEvent: (event) => store.change((state) => takeEvent(state, event, { announcer, toasts })),
    onConnection: (connection) => store.change((state) => (state.connection = connection)),
  });
  const banners = createBanners(document.getElementById("banners"), events.reconnect, store.refresh);
  for (const view of [banners, sidebar, pane]) store.watch((state) => view.render(state));
  store.watch(showFrame);
  // After the frame: a chat that the panel covers cannot take the focus back.
  store.watch((state) => miniApp.render(state));
  document.addEventListener("click", (event) => followBotLink(event, store.state, actions));
  window.addEventListener("popstate", actions.followRoute);
  window.addEventListener("hashchange", actions.followRoute);
}

// Links to the bot, on buttons and in texts, stay in the simulator.
function followBotLink(event, state, actions) {
  const address = event.target.closest?.("a[href]")?.href;
  const link = address && readBotLink(address, state.bot.username);
  if (!link) return;
  event.preventDefault();
  actions.followBotLink(link);
}

function enterWorld(state, world) {
  const isFirst = !state.loaded;
  if (isFirst) state.readUpTo = loadKept("read", {});
  applyWorld(state, world);
  keep("read", state.readUpTo);
  state.view = allowedView(state, isFirst ? readRoute() : state.view);
  if (isFirst) openFirstChat(state);
}

// The page opens with the person's own chat. On a phone, Back leads to the list, and the address of the list shows it.
function openFirstChat(state) {
  const isWide = matchMedia(WIDE).matches;
  const opens = state.view.chatId === null && (isWide || readRoute().personId === null);
  if (opens && !isWide) writeRoute(state.view);
  if (opens) state.view.chatId = state.view.personId;
  writeRoute(state.view, { fromList: opens && !isWide });
}

function takeEvent(state, event, { announcer, toasts }) {
  applyEvent(state, event, performance.now());
  if (event.type === "message") announcer.announce(state, event.message);
  if (event.type === "callback_answer") showAnswer(state, event, toasts);
}

function showAnswer(state, { user_id, text, show_alert }, toasts) {
  if (user_id !== state.view.personId || !text) return;
  if (show_alert) toasts.alertText(state.bot.first_name, text);
  else toasts.notify(text);
}

function showFrame(state) {
  const app = document.getElementById("app");
  app.dataset.screen = state.view.chatId === null ? "list" : "chat";
  app.dataset.loaded = String(state.loaded);
  app.dataset.panel = state.miniApp === null ? "closed" : "open";
  if (!state.loaded) return;
  const { personId } = state.view;
  const unread = chatsOf(state, personId).reduce((sum, chat) => sum + unreadOf(state, personId, chat), 0);
  document.title = `${unread > 0 ? `(${unread}) ` : ""}${state.bot.first_name} simulator`;
}

start();
