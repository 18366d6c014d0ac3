// The tab "Now": figures of this moment, the stores and workers, and below them the plots.

import { button, el, fill } from "./dom.js";
import { clockWithSeconds, compact, duration, rough, whole } from "./operations_format.js";
import { card, repeated, sentence, waiting } from "./operations_parts.js";
import { plotsOf } from "./operations_plots.js";
import { sentence as translated, words } from "./words.js";

const REFRESH_S = 5;
// A store that hangs lets the service wait for much longer than this.
const LATE_S = 5;
// An update that waits longer than this has a colour.
const LONG_WAIT_S = 30;
// The products of stores that are not embedded.
const PRODUCTS = { redis: "Redis", qdrant: "Qdrant" };

export function nowTab(api, goTo) {
  const banner = el("p", { class: "ops-banner", role: "status", "data-testid": "ops-banner", hidden: true });
  const body = el("div", { class: "ops-now", "data-testid": "ops-now" }, waiting());
  const plots = plotsOf(api);
  const element = el("div", { class: "ops-tab" }, banner, body, plots.element);
  let shown = null;

  async function load() {
    const late = setTimeout(() => warn(words("ops-no-answer", { count: LATE_S })), LATE_S * 1000);
    try {
      shown = await api.get("operations/now");
      banner.hidden = true;
      body.classList.remove("is-old");
      fill(body, tiles(shown, goTo), storesCard(shown), workersCard(shown));
    } catch (error) {
      warn(`${sentence(error)} ${words("ops-trying-again", { count: REFRESH_S })}`);
      if (!shown) fill(body);
    } finally {
      clearTimeout(late);
    }
  }

  // Says what is wrong, and how old the figures below are.
  function warn(text) {
    banner.textContent = shown ? `${text} ${words("ops-old-figures", { time: clockWithSeconds(shown.at) })}` : text;
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
    tile("messages", words("ops-messages-a-minute"), rough(now.messages_per_minute), words("ops-over-minutes", { count: 15 })),
    waitingTile(queue),
    tile("oldest", words("ops-oldest"), queue.oldest_s === null ? "–" : duration(queue.oldest_s), "", {
      tone: queue.oldest_s > LONG_WAIT_S && "warn",
      sign: words("ops-long-time"),
    }),
    tile("workers", words("ops-workers-alive"), whole(workers.length), versionsOf(workers), {
      tone: workers.length ? isMixed(workers) && "warn" : "bad",
      sign: words(workers.length ? "ops-versions-differ" : "ops-workers-none"),
    }),
    tile("dead-letters", words("ops-dead-letters"), compact(now.dead_letters), now.dead_letters ? "" : words("ops-all-settled"), {
      tone: now.dead_letters > 0 && "warn",
      sign: words("ops-look-at-them"),
      action: now.dead_letters > 0 && (() => goTo("updates", { focus: true })),
    }),
    tile("refusals", words("ops-refusals"), compact(refusals.hour), words("ops-refusals-day", { number: refusals.day }), {
      tone: refusals.hour > 0 && "warn",
      sign: words("ops-slowed"),
    }),
    tile("index-work", words("ops-to-index"), compact(now.index_work), words(now.index_work ? "ops-not-searchable" : "ops-all-searchable")),
    tile("expired", words("ops-expired"), compact(now.expired), words("ops-expired-day")),
    tile("version", words("ops-version"), now.version, words("ops-at", { time: clockWithSeconds(now.at) })),
  );
}

// With very many waiting chats the service does not count their updates.
function waitingTile({ contexts, updates }) {
  if (updates === null) return tile("waiting", words("ops-chats-waiting"), compact(contexts), words("ops-too-many"));
  return tile("waiting", words("ops-waiting"), compact(updates), updates ? words("ops-in-chats", { count: contexts }) : words("ops-nothing-waits"));
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
  return versions.length > 2 ? words("ops-versions", { count: versions.length }) : versions.join(" / ");
}

function storesCard({ stores }) {
  const rows = stores.map(({ name, is_embedded: isEmbedded, is_up: isUp, ms, note }) =>
    el(
      "li",
      { class: "ops-row", "data-testid": `store-${name}` },
      el("span", { class: `ops-state ${isUp ? "ok" : "problem"}` }, words(isUp ? "ops-up" : "ops-away")),
      el(
        "span",
        { class: "ops-row-main" },
        words("ops-store", { kind: name, name }),
        el("small", null, isEmbedded ? words("ops-embedded") : PRODUCTS[name]),
        note && el("small", null, translated(note)),
        !isUp && name === "qdrant" && el("small", null, words("ops-without-recall")),
      ),
      el("span", { class: "ops-row-end" }, isUp ? duration(ms / 1000) : ""),
    ),
  );
  return card(words("ops-stores"), { id: "stores" }, el("ul", { class: "ops-rows" }, rows));
}

function workersCard({ workers }) {
  const rows = workers.map(({ name, version, seen_s: seen }) =>
    el(
      "li",
      { class: "ops-row" },
      el("span", { class: "ops-state ok" }, words("ops-alive")),
      el("span", { class: "ops-row-main" }, el("bdi", { class: "mono" }, name), el("small", null, version)),
      el("span", { class: "ops-row-end" }, seen < 1 ? words("ops-just-now") : words("ops-ago", { time: duration(Math.floor(seen)) })),
    ),
  );
  const none = el("p", { class: "ops-hint" }, words("ops-no-worker"));
  return card(words("ops-workers"), { id: "workers" }, workers.length ? el("ul", { class: "ops-rows" }, rows) : none);
}
