// The tab "Now": figures of this moment, the stores and workers, and below them the plots.

import { button, el, fill } from "./dom.js";
import { clockWithSeconds, compact, count, duration, rough, whole } from "./operations_format.js";
import { card, repeated, sentence, waiting } from "./operations_parts.js";
import { plotsOf } from "./operations_plots.js";

const REFRESH_S = 5;
// A store that hangs lets the service wait for much longer than this.
const LATE_S = 5;
// An update that waits longer than this has a colour.
const LONG_WAIT_S = 30;
const STORES = { redis: "Redis", qdrant: "Qdrant" };

export function nowTab(api, goTo) {
  const banner = el("p", { class: "ops-banner", role: "status", "data-testid": "ops-banner", hidden: true });
  const body = el("div", { class: "ops-now", "data-testid": "ops-now" }, waiting());
  const plots = plotsOf(api);
  const element = el("div", { class: "ops-tab" }, banner, body, plots.element);
  let shown = null;

  async function load() {
    const late = setTimeout(() => warn(`No answer for ${LATE_S} seconds. I keep waiting.`), LATE_S * 1000);
    try {
      shown = await api.get("operations/now");
      banner.hidden = true;
      body.classList.remove("is-old");
      fill(body, tiles(shown, goTo), storesCard(shown), workersCard(shown));
    } catch (error) {
      warn(`${sentence(error)} I try again every ${REFRESH_S} seconds.`);
      if (!shown) fill(body);
    } finally {
      clearTimeout(late);
    }
  }

  // Says what is wrong, and how old the figures below are.
  function warn(text) {
    banner.textContent = shown ? `${text} These are the figures of ${clockWithSeconds(shown.at)}.` : text;
    banner.hidden = false;
    body.classList.add("is-old");
  }

  const figures = repeated(load, REFRESH_S);
  return {
    element,
    start() {
      figures.start();
      plots.start();
    },
    stop() {
      figures.stop();
      plots.stop();
    },
  };
}

function tiles(now, goTo) {
  const { waiting: queue, refusals_429: refusals, workers } = now;
  return el(
    "ul",
    { class: "ops-tiles" },
    tile("messages", "Messages a minute", rough(now.messages_per_minute), "over 15 minutes"),
    waitingTile(queue),
    tile("oldest", "Oldest waiting", queue.oldest_s === null ? "–" : duration(queue.oldest_s), "", {
      tone: queue.oldest_s > LONG_WAIT_S && "warn",
      sign: "a long time",
    }),
    tile("workers", "Workers alive", whole(workers.length), versionsOf(workers), {
      tone: workers.length ? isMixed(workers) && "warn" : "bad",
      sign: workers.length ? "versions differ" : "none",
    }),
    tile("dead-letters", "Dead letters", compact(now.dead_letters), now.dead_letters ? "" : "every update is settled", {
      tone: now.dead_letters > 0 && "warn",
      sign: "look at them",
      action: now.dead_letters > 0 && (() => goTo("updates", { focus: true })),
    }),
    tile("refusals", "429s in an hour", compact(refusals.hour), `${compact(refusals.day)} in 24 hours`, {
      tone: refusals.hour > 0 && "warn",
      sign: "slowed",
    }),
    tile("index-work", "To be indexed", compact(now.index_work), now.index_work ? "messages, not yet searchable" : "all is searchable"),
    tile("version", "Version", now.version, `at ${clockWithSeconds(now.at)}`),
  );
}

// With very many waiting chats the service does not count their updates.
function waitingTile({ contexts, updates }) {
  if (updates === null) return tile("waiting", "Chats waiting", compact(contexts), "too many to count their updates");
  return tile("waiting", "Waiting", compact(updates), updates ? `in ${count(contexts, "chat")}` : "nothing waits");
}

// A figure. `tone` colours it, and `sign` says in a word what the colour means.
function tile(id, label, figure, note, { tone = false, sign = "", action = false } = {}) {
  const parts = [
    el("span", { class: "ops-tile-label" }, label),
    el("strong", { class: "ops-tile-figure" }, figure),
    el("span", { class: "ops-tile-note" }, tone && el("b", { class: "ops-sign" }, sign), el("bdi", null, note)),
  ];
  const props = { class: `ops-tile card ${tone || ""}`, "data-testid": `tile-${id}` };
  return el("li", null, action ? button({ ...props, onclick: action }, parts) : el("div", props, parts));
}

const isMixed = (workers) => new Set(workers.map(({ version }) => version)).size > 1;

function versionsOf(workers) {
  const versions = [...new Set(workers.map(({ version }) => version))].sort();
  return versions.length > 2 ? `${versions.length} versions` : versions.join(" and ");
}

function storesCard({ stores }) {
  const rows = stores.map(({ name, is_up: isUp, ms, note }) =>
    el(
      "li",
      { class: "ops-row", "data-testid": `store-${name}` },
      el("span", { class: `ops-state ${isUp ? "ok" : "problem"}` }, isUp ? "up" : "away"),
      el("span", { class: "ops-row-main" }, STORES[name] ?? name, note && el("small", null, note)),
      el("span", { class: "ops-row-end" }, isUp ? duration(ms / 1000) : ""),
    ),
  );
  return card("Stores", { id: "stores" }, el("ul", { class: "ops-rows" }, rows));
}

function workersCard({ workers }) {
  const rows = workers.map(({ name, version, seen_s: seen }) =>
    el(
      "li",
      { class: "ops-row" },
      el("span", { class: "ops-state ok" }, "alive"),
      el("span", { class: "ops-row-main" }, el("bdi", { class: "mono" }, name), el("small", null, version)),
      el("span", { class: "ops-row-end" }, seen < 1 ? "just now" : `${duration(Math.floor(seen))} ago`),
    ),
  );
  const none = el("p", { class: "ops-hint" }, "No worker is alive. Messages wait until one starts.");
  return card("Workers", { id: "workers" }, workers.length ? el("ul", { class: "ops-rows" }, rows) : none);
}
