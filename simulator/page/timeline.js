// The scrolling list of messages of the open place: draws its plan, keeps the position, counts new messages.
import { el, icon, reconcile, button } from "./dom.js";
import { emptyPlace } from "./empty_place.js";
import { shortCount } from "./format.js";
import { findMessage, personPlaceKey, unreadIn } from "./places.js";
import { ScrollPosition } from "./scroll_position.js";
import { timelineItem } from "./timeline_item.js";
import { moveBetweenMessages } from "./timeline_keys.js";
import { planTimeline } from "./timeline_plan.js";

export class Timeline {
  #actions;
  #list = el("ol", { class: "messages", "aria-label": "Messages", "data-testid": "messages" });
  #scroller = el("div", { class: "scroller", "data-testid": "scroller" }, this.#list);
  #count = el("span", { class: "badge" });
  #down = downButton(this.#count);
  #position = new ScrollPosition(this.#scroller, this.#list, () => this.#noteSeen());
  #state = null;
  #shownKey = null;
  #unreadAfter = null;

  constructor(actions) {
    this.#actions = actions;
    this.root = el("div", { class: "timeline" }, this.#scroller, this.#down);
    this.#down.addEventListener("click", () => this.#position.toBottom(true));
    this.#list.addEventListener("click", (event) => this.#selectOnTouch(event));
    this.#list.addEventListener("dblclick", (event) => this.#replyOnDoubleClick(event));
    const messageOf = (node) => this.#messageOf(node);
    this.#list.addEventListener("keydown", (event) =>
      moveBetweenMessages(event, this.#list, messageOf, actions),
    );
    document.addEventListener("visibilitychange", () => this.#noteSeen());
  }

  render(state) {
    this.#state = state;
    const { personId, chatId, topicId } = state.view;
    const key = personPlaceKey(personId, chatId, topicId);
    const isNewPlace = key !== this.#shownKey;
    if (isNewPlace) this.#open(key, unreadIn(state, personId, chatId, topicId));
    this.#draw(isNewPlace);
    if (isNewPlace) this.#position.restore(key, this.#list.querySelector(".unread-row"));
    else this.#position.settle();
    this.#noteSeen();
  }

  // Must be called while the list is still shown: a hidden one has no position to remember.
  close() {
    if (this.#shownKey !== null) this.#position.save(this.#shownKey);
    this.#list.replaceChildren();
    this.#shownKey = null;
  }

  // False when the message is not shown here.
  reveal(messageId) {
    const row = this.#list.querySelector(`[data-message-id="${messageId}"]`);
    if (!row) return false;
    this.#position.show(row);
    row.classList.remove("flash");
    row.getBoundingClientRect(); // Without a layout in between, the animation would not start again.
    row.classList.add("flash");
    row.addEventListener("animationend", () => row.classList.remove("flash"), { once: true });
    return true;
  }

  toBottom() {
    this.#position.toBottom(false);
  }

  #open(key, unread) {
    this.close();
    this.#shownKey = key;
    this.#unreadAfter = unread > 0 ? (this.#state.readUpTo[key] ?? 0) : null;
  }

  #draw(isNewPlace) {
    const rows = this.#list.childElementCount;
    const plan = planTimeline(this.#state, { unreadAfter: this.#unreadAfter, now: new Date() });
    const items = plan.map((entry) => timelineItem(this.#state, entry, this.#actions));
    const isEmpty = !plan.some((entry) => entry.fromId !== undefined);
    reconcile(this.#list, isEmpty ? [...items, emptyPlace(this.#state, this.#actions)] : items);
    // A message that replaces a draft or an unsent line does not count as new.
    if (isNewPlace) for (const row of this.#list.children) row.classList.add("still");
    else if (this.#list.childElementCount <= rows) this.#list.lastElementChild.classList.add("still");
    this.#makeReachable();
  }

  // One message at a time can be reached with Tab: the newest, until the arrow keys move on.
  #makeReachable() {
    const rows = [...this.#list.querySelectorAll(".row[data-message-id]")];
    if (rows.length > 0 && !rows.some((row) => row.tabIndex === 0)) rows.at(-1).tabIndex = 0;
  }

  #noteSeen() {
    if (this.#shownKey === null) return;
    const isAtBottom = this.#position.isAtBottom;
    const isSeen = isAtBottom && document.visibilityState === "visible";
    if (isSeen) this.#actions.markRead();
    const { personId, chatId, topicId } = this.#state.view;
    const unread = isSeen ? 0 : unreadIn(this.#state, personId, chatId, topicId);
    this.#down.hidden = isAtBottom;
    this.#count.textContent = shortCount(unread);
    this.#count.hidden = unread === 0;
  }

  #messageOf(node) {
    const row = node.closest(".row[data-message-id]");
    return row ? findMessage(this.#state, this.#state.view.chatId, Number(row.dataset.messageId)) : null;
  }

  #replyOnDoubleClick(event) {
    const message = this.#messageOf(event.target);
    if (!message || event.target.closest("a, button, pre, audio, video, .spoiler")) return;
    getSelection()?.removeAllRanges();
    this.#actions.startReply(message);
  }

  // Without a pointer that hovers, a tap shows the message's tools.
  #selectOnTouch(event) {
    const row = event.target.closest(".row");
    if (event.target.closest(".tool")) row.classList.remove("selected");
    if (!matchMedia("(hover: none)").matches || event.target.closest("a, button, audio, video, .spoiler"))
      return;
    for (const other of this.#list.querySelectorAll(".row.selected")) {
      if (other !== row) other.classList.remove("selected");
    }
    row?.classList.toggle("selected");
  }
}

function downButton(count) {
  const props = { class: "to-bottom", "data-testid": "to-bottom", "aria-label": "To the newest message" };
  return button({ ...props, hidden: true }, icon("down"), count);
}
