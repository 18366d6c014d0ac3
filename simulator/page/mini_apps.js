// The actions that open a Mini App or follow a link to the bot.
import { themeParams } from "./mini_app_theme.js";

export function createMiniApps({ store, api, sending, notify }, { openChat }) {
  const { state } = store;

  // `how` is {message_id, url} of a button, {start_param} of a link, or empty for the main Mini App.
  async function openMiniApp(chatId, how = {}) {
    const { personId } = state.view;
    const opener = document.activeElement;
    const body = { chat_id: chatId, from_id: personId, theme_params: themeParams(), ...how };
    try {
      const { url } = await api.openWebApp(body);
      if (state.view.personId !== personId) return; // The data is signed for a person who has left.
      store.change(() => (state.miniApp = { url, opener, hasBack: false }));
    } catch (error) {
      notify(error.message);
    }
  }

  const closeMiniApp = () => store.change(() => (state.miniApp = null));

  function showBackOfMiniApp(isShown) {
    store.change(() => (state.miniApp = { ...state.miniApp, hasBack: isShown }));
  }

  // Sends `/start PARAMETER`, which Telegram does after a press of "Start".
  function followBotLink({ start, startapp }) {
    const { personId, chatId } = state.view;
    if (startapp !== null) return openMiniApp(chatId ?? personId, startapp ? { start_param: startapp } : {});
    openChat(personId);
    if (!start) return;
    const line = { text: `/start ${start}`, replyTo: null, quote: null, files: [] };
    sending.send({ personId, chatId: personId, topicId: null }, line);
  }

  return { openMiniApp, closeMiniApp, showBackOfMiniApp, followBotLink };
}

// The parameters of a link to this bot, such as https://t.me/BOT?startapp=…, or null for another address.
export function readBotLink(address, username) {
  const { protocol, hostname, pathname, searchParams } = new URL(address);
  const isBot = pathname.replace(/\/$/, "").toLowerCase() === `/${username}`.toLowerCase();
  if (!/^https?:$/.test(protocol) || hostname !== "t.me" || !isBot) return null;
  return { start: searchParams.get("start"), startapp: searchParams.get("startapp") };
}
