// Turns dates and numbers into short texts, as people who read the page's language write them.
import { locale } from "./language.js";
import { words } from "./words.js";

const DAY_MS = 86_400_000;

const numbers = new Intl.NumberFormat(locale);
const times = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const days = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long" });
const daysOfYears = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", year: "numeric" });
const weekdays = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long" });
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });
const years = new Intl.DateTimeFormat(locale, { year: "numeric" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

export const number = (value) => numbers.format(value);
export const timeOfDay = (seconds) => times.format(seconds * 1000);
export const moment = (seconds) => moments.format(seconds * 1000);

// "3 March", with the year if it is not this one.
export function day(seconds) {
  return (isThisYear(seconds) ? days : daysOfYears).format(seconds * 1000);
}

// "3 Mar", for narrow places.
export function shortDay(seconds) {
  const year = isThisYear(seconds) ? {} : { year: "numeric" };
  return new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", ...year }).format(seconds * 1000);
}

// "Today", "Yesterday", "Tuesday, 3 March".
export function dayHeading(seconds) {
  const ago = daysAgo(seconds);
  if (ago === 0 || ago === 1) return capital(relative.format(-ago, "day"));
  return (isThisYear(seconds) ? weekdays : daysOfYears).format(seconds * 1000);
}

// "Today, 09:00", "3 March, 09:00". `isInside` is for the middle of a sentence.
export function dayAndTime(seconds, { isInside = false } = {}) {
  const today = relative.format(0, "day");
  const shown = daysAgo(seconds) !== 0 ? day(seconds) : isInside ? today : capital(today);
  return words("day-and-time", { day: shown, time: timeOfDay(seconds) });
}

// "Tue 24 November, 09:00" on the clock of a zone, with the year if it is not this one.
export function dayAndTimeIn(seconds, zone) {
  const year = isThisYear(seconds) ? {} : { year: "numeric" };
  const shown = { weekday: "short", day: "numeric", month: "long", ...year, hour: "numeric", minute: "2-digit" };
  return new Intl.DateTimeFormat(locale, { ...shown, timeZone: zone }).format(seconds * 1000);
}

export function isSameDay(one, other) {
  return new Date(one * 1000).toDateString() === new Date(other * 1000).toDateString();
}

export function fileSize(bytes) {
  const [amount, unit] = bytes < 1e3 ? [bytes, "byte"] : bytes < 1e6 ? [bytes / 1e3, "kilobyte"] : [bytes / 1e6, "megabyte"];
  const digits = amount < 10 && unit !== "byte" ? 1 : 0;
  return new Intl.NumberFormat(locale, { style: "unit", unit, maximumFractionDigits: digits }).format(amount);
}

// A cost, in the currency of the operator's prices; answers often cost much less than 1.
export function money(amount) {
  const digits = amount >= 1 || amount === 0 ? { maximumFractionDigits: 2 } : { maximumSignificantDigits: 2 };
  return new Intl.NumberFormat(locale, digits).format(amount);
}

export function seconds(value) {
  const digits = { maximumFractionDigits: value < 10 ? 1 : 0 };
  return words("seconds", { amount: new Intl.NumberFormat(locale, digits).format(value) });
}

// The first letters of the first and the last word; "?" for a name without letters.
export function initials(name) {
  const letters = name.split(/\s+/).flatMap((word) => word.match(/[\p{L}\p{N}]/u) ?? []);
  const shown = letters.length > 1 ? [letters[0], letters.at(-1)] : letters;
  return shown.join("").toUpperCase() || "?";
}

// A year of the locale's calendar.
function isThisYear(seconds) {
  return years.format(seconds * 1000) === years.format(Date.now());
}

function daysAgo(seconds) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(new Date()) - midnight(new Date(seconds * 1000))) / DAY_MS);
}

function capital(text) {
  return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);
}
