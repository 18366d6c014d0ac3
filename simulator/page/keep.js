// Keeps small values over reloads, for this tab only (another tab can be another person).

const PREFIX = "mnemogram-simulator:";

export function loadKept(name, fallback) {
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? fallback : JSON.parse(text);
  } catch {
    return fallback;
  }
}

export function keep(name, value) {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // If storage is full or forbidden, the value stays in memory; reads use the memory.
  }
}
