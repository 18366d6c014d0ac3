// Keeps the stream of server-sent events open, and the world up to date, across lost connections.

const FIRST_WAIT_MS = 800;
const LONGEST_WAIT_MS = 8_000;

// Calls `onWorld(world)` with a fresh world after each new connection and whenever the server asks for it,
// `onEvent(event)` for everything after it, in order, and `onConnection("open" | "lost")`.
export function followEvents({ loadWorld, onWorld, onEvent, onConnection }) {
  let source = null;
  let held = null;
  let wait = FIRST_WAIT_MS;
  let timer = null;

  function connect() {
    clearTimeout(timer);
    source?.close();
    source = new EventSource("/api/events");
    source.onopen = () => resync(source);
    source.onmessage = (message) => receive(JSON.parse(message.data));
    source.onerror = lose;
  }

  // Events that arrive while the world is loading are applied after it: each is repeatable.
  async function resync(current) {
    held = [];
    try {
      const world = await loadWorld();
      if (current !== source) return;
      onWorld(world);
    } catch {
      if (current === source) lose();
      return;
    }
    wait = FIRST_WAIT_MS;
    const missed = held;
    held = null;
    missed.forEach(onEvent);
    onConnection("open");
  }

  function receive(event) {
    if (event.type === "world") resync(source);
    else if (held) held.push(event);
    else onEvent(event);
  }

  function lose() {
    source.close();
    onConnection("lost");
    clearTimeout(timer);
    timer = setTimeout(connect, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }

  connect();
  window.addEventListener("online", connect);
  return { reconnect: connect };
}
