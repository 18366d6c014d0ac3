// Reads how the page was opened: the fragment that Telegram or `mnemogram dashboard` gave it, and the signed link.

const KEPT = "mnemogram:launch";
const LINK = "link";

// {initData, languageCode, session, dashboard, link, theme}; a missing text is "".
export const launch = takeLaunch();

// Reads the fragment once. It holds secrets: it is removed from the address bar and kept for this tab only, so that a
// reload works.
function takeLaunch() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const link = new URLSearchParams(location.search).get(LINK) ?? "";
  const dashboard = fragment.get("dashboard") ?? "";
  const initData = fragment.get("tgWebAppData") ?? "";
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  if (!dashboard && !initData) return described({ initData: "", session: "", theme: {}, ...loadKept(), dashboard: "", link });
  const taken = { initData, session: "", dashboard, theme: parseObject(fragment.get("tgWebAppThemeParams")) };
  keepLaunch(taken);
  return described({ ...taken, link });
}

// Telegram names the language of its person in the signed data.
function described(taken) {
  const user = parseObject(new URLSearchParams(taken.initData).get("user"));
  return { ...taken, languageCode: typeof user.language_code === "string" ? user.language_code : "" };
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

function parseObject(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
