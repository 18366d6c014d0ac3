// A timeline of any length: chunks of messages that load as one scrolls. Only chunks near the reader have nodes.
import { keepTrying } from "./api.js";
import { button, el, icon } from "./dom.js";
import { dayHeading, isSameDay } from "./format.js";
import { notify } from "./toasts.js";
import { skeleton, errorBox, spinnerBox, stateBox } from "./states.js";
import { words } from "./words.js";

const CHUNK = 50;
const LOAD_AHEAD = "1500px 0px";
const KEEP_NODES = "2500px 0px";
const SAME_WRITER_S = 300;
const NEAR_BOTTOM = 60;
const DAY_SHOWN_MS = 1200;

export class Timeline {
  #load;
  #entry;
  #empty;
  #chunks = [];
  #hasOlder = false;
  #hasNewer = false;
  #isOpening = false;
  #loading = new Set();
  #run = new AbortController();
  #feed;
  #scroller;
  #above = el("div", { class: "timeline-edge" });
  #below = el("div", { class: "timeline-edge" });
  #newest;
  #day;
  #edges;
  #nodes;
  #dayTimer = 0;

  // `load({before, after, around, limit}, signal)` resolves to {messages, has_more}, newest first;
  // `entry(message, follows)` builds a node; `empty` describes the state of a timeline without messages.
  constructor({ load, entry, label, empty }) {
    this.#load = load;
    this.#entry = entry;
    this.#empty = empty;
    this.#feed = el("div", { class: "feed", role: "feed", "aria-label": label });
    this.#scroller = el("div", { class: "scroller", tabindex: "0", "data-testid": "timeline" }, this.#feed);
    const down = { class: "to-newest card", "aria-label": words("to-newest"), title: words("to-newest") };
    this.#newest = button({ ...down, hidden: true, onclick: () => this.toNewest() }, icon("down"));
    this.#day = el("div", { class: "day-pill", "aria-hidden": "true" });
    this.root = el("div", { class: "timeline" }, this.#scroller, this.#day, this.#newest);
    this.#scroller.addEventListener("scroll", () => this.#look(), { passive: true });
    const options = { root: this.#scroller };
    this.#edges = new IntersectionObserver((seen) => this.#atEdges(seen), { ...options, rootMargin: LOAD_AHEAD });
    this.#nodes = new IntersectionObserver((seen) => this.#moved(seen), { ...options, rootMargin: KEEP_NODES });
  }

  // Shows the newest messages.
  async start() {
    await this.#open({});
  }

  stop() {
    this.#run.abort();
    this.#edges.disconnect();
    this.#nodes.disconnect();
  }

  // Shows a message in its place, loaded or not.
  async goTo(id) {
    if (!this.#find(id)) await this.#open({ around: id });
    const chunk = this.#find(id);
    if (!chunk) {
      notify(words("no-message"));
      return;
    }
    this.#build(chunk);
    const node = chunk.node.querySelector(`[data-id="${CSS.escape(id)}"]`);
    node.scrollIntoView({ block: "center" });
    node.focus({ preventScroll: true });
    node.classList.add("flash");
    node.addEventListener("animationend", () => node.classList.remove("flash"), { once: true });
  }

  async toNewest() {
    if (this.#hasNewer) await this.start();
    this.#scroller.scrollTop = 0;
  }

  // Adds the messages that arrived since, if the newest known one is loaded. Resolves to true if there were any.
  async refresh() {
    const newest = this.#newestId;
    if (this.#isOpening) return false;
    if (this.#chunks.length === 0) await this.#open({ isQuiet: true });
    else if (!this.#hasNewer) await this.#loadNewer();
    return this.#newestId !== newest;
  }

  get #newestId() {
    return this.#chunks.at(-1)?.messages.at(-1).id;
  }

  remove(ids) {
    for (const chunk of this.#chunks) {
      const kept = chunk.messages.filter((message) => !ids.has(message.id));
      if (kept.length === chunk.messages.length) continue;
      chunk.messages = kept;
      if (chunk.isBuilt) this.#build(chunk, true);
    }
    for (const chunk of this.#chunks.filter(({ messages }) => messages.length === 0)) this.#discard(chunk);
    if (this.#chunks.length === 0) this.start();
  }

  async #open({ around, isQuiet = false }) {
    this.#run.abort();
    this.#run = new AbortController();
    this.#loading.clear();
    this.#edges.disconnect();
    this.#nodes.disconnect();
    this.#chunks = [];
    if (!isQuiet) this.#feed.replaceChildren(skeleton(7));
    const { signal } = this.#run;
    this.#isOpening = true;
    const answer = await this.#request({ around }, (box) => this.#feed.replaceChildren(box), () => this.#open({ around }));
    if (signal.aborted) return;
    this.#isOpening = false;
    if (!answer) return;
    this.#hasOlder = answer.has_more;
    this.#hasNewer = around !== undefined;
    if (answer.messages.length === 0) {
      if (this.#hasNewer) await this.start();
      else this.#feed.replaceChildren(stateBox(this.#empty));
      return;
    }
    this.#feed.replaceChildren(this.#above, this.#below);
    this.#insert(answer.messages, this.#below);
    this.#scroller.scrollTop = 0;
    this.#showEdges();
    this.#look();
  }

  // Resolves to null after a failure, which `show(box)` has shown.
  async #request(query, show, retry) {
    const { signal } = this.#run;
    const onTrouble = (error, seconds) => show(errorBox(error, { seconds, small: true }));
    try {
      return await keepTrying(() => this.#load({ limit: CHUNK, ...query }, signal), { signal, onTrouble });
    } catch (error) {
      if (!signal.aborted) show(errorBox(error, { retry, small: true }));
      return null;
    }
  }

  async #loadOlder() {
    const query = { before: this.#chunks[0].messages[0].sequence };
    const answer = await this.#loadEdge("older", this.#above, query, () => this.#loadOlder());
    if (!answer) return;
    this.#hasOlder = answer.has_more;
    const [next] = this.#chunks;
    this.#insert(answer.messages, next.node);
    if (next.isBuilt) this.#build(next, true);
    this.#showEdges();
  }

  async #loadNewer() {
    const wasBehind = this.#hasNewer;
    const query = { after: this.#chunks.at(-1).messages.at(-1).sequence };
    const answer = await this.#loadEdge("newer", this.#below, query, () => this.#loadNewer());
    if (!answer) return;
    this.#hasNewer = answer.has_more;
    const { scrollTop, scrollHeight } = this.#scroller;
    this.#insert(answer.messages, this.#below);
    this.#showEdges();
    // The scroller measures from its bottom: what is added there would move the reader's place.
    if (wasBehind || scrollTop < -NEAR_BOTTOM)
      this.#scroller.scrollTop = scrollTop - (this.#scroller.scrollHeight - scrollHeight);
    this.#look();
  }

  async #loadEdge(edge, box, query, again) {
    if (this.#loading.has(edge)) return null;
    const { signal } = this.#run;
    this.#loading.add(edge);
    const retry = () => {
      box.replaceChildren(spinnerBox());
      again();
    };
    const answer = await this.#request(query, (shown) => box.replaceChildren(shown), retry);
    if (signal.aborted) return null;
    this.#loading.delete(edge);
    return answer;
  }

  #insert(newestFirst, before) {
    if (newestFirst.length === 0) return;
    const node = el("div", { class: "chunk" });
    const chunk = { messages: newestFirst.toReversed(), node, isBuilt: false };
    const at = this.#chunks.findIndex((known) => known.node === before);
    this.#chunks.splice(at === -1 ? this.#chunks.length : at, 0, chunk);
    this.#build(chunk);
    this.#feed.insertBefore(node, before);
    this.#nodes.observe(node);
  }

  #discard(chunk) {
    this.#nodes.unobserve(chunk.node);
    chunk.node.remove();
    this.#chunks.splice(this.#chunks.indexOf(chunk), 1);
  }

  #find(id) {
    return this.#chunks.find(({ messages }) => messages.some((message) => message.id === id));
  }

  #build(chunk, isChanged = false) {
    if (chunk.isBuilt && !isChanged) return;
    let above = this.#chunks[this.#chunks.indexOf(chunk) - 1]?.messages.at(-1);
    const nodes = chunk.messages.flatMap((message) => {
      const isNewDay = !above || !isSameDay(above.sent_at, message.sent_at);
      const follows = !isNewDay && isSameWriter(above, message);
      above = message;
      const entry = this.#entry(message, follows);
      return isNewDay ? [el("h2", { class: "day" }, el("span", null, dayHeading(message.sent_at))), entry] : [entry];
    });
    chunk.node.replaceChildren(...nodes);
    chunk.node.style.blockSize = "";
    chunk.isBuilt = true;
  }

  // Keeps the height of a chunk that is far away, but not its nodes.
  #strip(chunk) {
    if (!chunk.isBuilt || chunk.node.contains(document.activeElement)) return;
    chunk.node.style.blockSize = `${chunk.node.offsetHeight}px`;
    chunk.node.replaceChildren();
    chunk.isBuilt = false;
  }

  #moved(seen) {
    for (const { target, isIntersecting } of seen) {
      const chunk = this.#chunks.find(({ node }) => node === target);
      if (!chunk) continue;
      if (isIntersecting) this.#build(chunk);
      else this.#strip(chunk);
    }
  }

  #showEdges() {
    const start = el("p", { class: "begins", "data-testid": "begins" }, words("begins"));
    this.#above.replaceChildren(this.#hasOlder ? spinnerBox() : start);
    this.#below.replaceChildren(...(this.#hasNewer ? [spinnerBox()] : []));
    // An observer reports a node once more when it is observed again: an edge may still be near.
    for (const edge of [this.#above, this.#below]) {
      this.#edges.unobserve(edge);
      this.#edges.observe(edge);
    }
  }

  #atEdges(seen) {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      if (target === this.#above && this.#hasOlder) this.#loadOlder();
      if (target === this.#below && this.#hasNewer) this.#loadNewer();
    }
  }

  // While one scrolls, the day of the topmost message floats above the timeline.
  #look() {
    const { scrollTop, clientHeight } = this.#scroller;
    this.#newest.hidden = !this.#hasNewer && -scrollTop < clientHeight;
    const entry = this.#topEntry();
    if (!entry) return;
    this.#day.textContent = dayHeading(Number(entry.dataset.at));
    const isWithin = this.#above.getBoundingClientRect().bottom < this.#scroller.getBoundingClientRect().top;
    this.#day.classList.toggle("shown", isWithin && scrollTop < -NEAR_BOTTOM);
    clearTimeout(this.#dayTimer);
    this.#dayTimer = setTimeout(() => this.#day.classList.remove("shown"), DAY_SHOWN_MS);
  }

  #topEntry() {
    const { top } = this.#scroller.getBoundingClientRect();
    const isBelow = (node) => node.getBoundingClientRect().bottom > top;
    const chunk = this.#chunks.find(({ node, isBuilt }) => isBuilt && isBelow(node));
    return chunk && [...chunk.node.querySelectorAll(".entry")].find(isBelow);
  }
}

function isSameWriter(one, other) {
  const isClose = other.sent_at - one.sent_at < SAME_WRITER_S;
  return isClose && one.role === other.role && one.sender?.id === other.sender?.id;
}
