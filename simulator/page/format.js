// Turns dates, names and counts into the short texts that people read.

const DAY = 86_400_000;

export function timeOfDay(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" });
}

export function fullDate(seconds) {
  return new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "full", timeStyle: "medium" });
}

export function dayLabel(seconds, now) {
  const ago = daysAgo(seconds, now);
  if (ago === 0) return "Today";
  if (ago === 1) return "Yesterday";
  const sameYear = new Date(seconds * 1000).getFullYear() === now.getFullYear();
  const shape = { day: "numeric", month: "long", ...(sameYear ? {} : { year: "numeric" }) };
  return new Date(seconds * 1000).toLocaleDateString(undefined, shape);
}

export function listTime(seconds, now) {
  const ago = daysAgo(seconds, now);
  if (ago <= 0) return timeOfDay(seconds);
  const shape = ago < 7 ? { weekday: "short" } : { day: "numeric", month: "short" };
  return new Date(seconds * 1000).toLocaleDateString(undefined, shape);
}

export function isSameDay(one, other) {
  return new Date(one * 1000).toDateString() === new Date(other * 1000).toDateString();
}

export function shortCount(count) {
  return count > 99 ? "99+" : String(count);
}

export function fullName(user) {
  return [user.first_name, user.last_name].filter(Boolean).join(" ");
}

export function fileSize(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const [amount, unit] = bytes < 1_000_000 ? [bytes / 1000, "kB"] : [bytes / 1_000_000, "MB"];
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}

export function playingTime(seconds) {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

export function initials(name) {
  const words = name.trim().split(/\s+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...word][0].toUpperCase()).join("") || "?";
}

function daysAgo(seconds, now) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(now) - midnight(new Date(seconds * 1000))) / DAY);
}
