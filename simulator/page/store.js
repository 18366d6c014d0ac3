// Holds the state of the page, notifies the views once per round of changes, and ends typing and drafts in time.
import { emptyState } from "./world.js";
import { dropExpired, nextExpiry } from "./world_events.js";

export function createStore() {
  const state = emptyState();
  const views = [];
  const awaited = [];
  let scheduled = false;
  let expiry = null;

  function change(apply) {
    const result = apply(state);
    if (!scheduled) {
      scheduled = true;
      setTimeout(show);
    }
    return result;
  }

  // Acts once, as soon as the condition holds: the result of a request is known with the next world.
  function when(holds, act) {
    awaited.push({ holds, act });
    change(() => {});
  }

  function show() {
    scheduled = false;
    for (const one of awaited.filter(({ holds }) => holds(state))) {
      awaited.splice(awaited.indexOf(one), 1);
      one.act();
    }
    for (const view of views) view(state);
    clearTimeout(expiry);
    const next = nextExpiry(state);
    if (next === null) return;
    const wait = Math.max(20, next - performance.now());
    expiry = setTimeout(() => change((current) => dropExpired(current, performance.now())), wait);
  }

  return { state, change, when, refresh: () => change(() => {}), watch: (view) => views.push(view) };
}
