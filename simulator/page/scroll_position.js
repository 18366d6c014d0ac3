// Keeps a scroller at its bottom if the reader is there, and otherwise at its last position.

const NEAR = 48;

export class ScrollPosition {
  #scroller;
  #saved = new Map();
  #isStuck = true;
  #size = "";

  // `onMove` is called when the reader may have reached or left the bottom.
  constructor(scroller, content, onMove) {
    this.#scroller = scroller;
    const look = () => {
      // A browser scrolls by itself when the size changes, before the observer: that is not the reader.
      if (this.#size === this.#measure()) this.#isStuck = this.#distance() < NEAR;
      onMove();
    };
    scroller.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(() => {
      this.#size = this.#measure();
      this.settle();
    });
    observer.observe(scroller);
    observer.observe(content);
  }

  get isAtBottom() {
    return this.#isStuck;
  }

  settle() {
    if (this.#isStuck) this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  save(key) {
    if (this.#isStuck) this.#saved.delete(key);
    else this.#saved.set(key, this.#scroller.scrollTop);
  }

  // Unread messages come first, then the place where the reader was, then the newest message.
  restore(key, divider) {
    const top = this.#saved.get(key);
    this.#isStuck = !divider && top === undefined;
    if (divider) this.#scroller.scrollTop = divider.offsetTop - this.#scroller.clientHeight / 4;
    else if (top !== undefined) this.#scroller.scrollTop = top;
    else this.settle();
    this.#isStuck = this.#distance() < NEAR;
  }

  toBottom(isSmooth) {
    this.#isStuck = true;
    const behavior = isSmooth ? preferredMotion() : "instant";
    this.#scroller.scrollTo({ top: this.#scroller.scrollHeight, behavior });
  }

  show(node) {
    this.#isStuck = false;
    node.scrollIntoView({ block: "center", behavior: preferredMotion() });
  }

  #measure() {
    const { scrollHeight, clientHeight, clientWidth } = this.#scroller;
    return `${scrollHeight} ${clientHeight} ${clientWidth}`;
  }

  #distance() {
    const { scrollHeight, clientHeight, scrollTop } = this.#scroller;
    return scrollHeight - clientHeight - scrollTop;
  }
}

function preferredMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
}
