// Reads how the page was opened: the fragment that Telegram or `mnemogram dashboard` gave it, and the signed link.

const KEPT = "mnemogram:launch";
const LINK = "link";

// Returns {initData, session, dashboard, link, theme}; a missing text is "". The fragment holds secrets: it is removed
// from the address bar and kept for this tab only, so that a reload works.
export function takeLaunch() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const link = new URLSearchParams(location.search).get(LINK) ?? "";
  const dashboard = fragment.get("dashboard") ?? "";
  const initData = fragment.get("tgWebAppData") ?? "";
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  if (!dashboard && !initData) return { initData: "", session: "", theme: {}, ...loadKept(), dashboard: "", link };
  const launch = { initData, session: "", dashboard, theme: parseTheme(fragment.get("tgWebAppThemeParams")) };
  keepLaunch(launch);
  return { ...launch, link };
}

// Keeps what a reload needs. A dashboard token works once and is never kept.
export function keepLaunch({ initData, session, theme }) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ initData, session, theme }));
  } catch {
    // Storage is full or forbidden: only a reload suffers.
  }
}

function loadKept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

function parseTheme(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
