// Numbers, durations and times as people read them.
import { locale } from "./language.js";
import { words } from "./words.js";

const WHOLE = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const ROUGH = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const COMPACT = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
const CLOCK = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const SECONDS_CLOCK = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const WEEKDAY = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short" });
const MOMENT = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const MONTH = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });
const NONE = "–";

const unit = (name, amount) => words(`unit-${name}`, { amount });

const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);
const asDate = (seconds) => new Date(seconds * 1000);

export const whole = (value) => (isMissing(value) ? NONE : WHOLE.format(value));
export const rough = (value) => (isMissing(value) ? NONE : ROUGH.format(value));
export const compact = (value) => (isMissing(value) ? NONE : value < 10_000 ? ROUGH.format(value) : COMPACT.format(value));
export const short = (value) => (isMissing(value) ? NONE : COMPACT.format(value));
export const percent = (value) => (isMissing(value) ? NONE : PERCENT.format(value));
export const clock = (seconds) => CLOCK.format(asDate(seconds));
export const clockWithSeconds = (seconds) => SECONDS_CLOCK.format(asDate(seconds));
export const day = (seconds) => DAY.format(asDate(seconds));

// Returns the name of a month of UTC such as "2026-11".
export const month = (text) => MONTH.format(Date.parse(`${text}-01T00:00Z`));

// Returns a price with three significant digits: 0.00124, 0.25, 12.4, 1,240.
export function money(value) {
  if (isMissing(value)) return NONE;
  return new Intl.NumberFormat(locale, { maximumSignificantDigits: value < 1000 ? 3 : 6 }).format(value);
}

// Returns a duration in its two largest units: "85 ms", "1.2 s", "3 min 5 s", "2 h 10 min", "4 d 1 h";
// `isRough` leaves out the smaller one.
export function duration(seconds, { isRough = false } = {}) {
  if (isMissing(seconds)) return NONE;
  if (seconds === 0) return unit("s", 0);
  if (seconds < 0.0005) return `< ${unit("ms", 1)}`;
  if (seconds < 0.9995) return unit("ms", Math.round(seconds * 1000));
  if (seconds < 9.95) return unit("s", ROUGH.format(seconds));
  const all = Math.round(seconds);
  if (all < 60) return unit("s", all);
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = units.findIndex(([size]) => all >= size);
  const [[size, name], [smaller, smallName]] = [units[first], units[first + 1]];
  const rest = Math.floor((all % size) / smaller);
  const main = unit(name, Math.floor(all / size));
  return rest && !isRough ? `${main} ${unit(smallName, rest)}` : main;
}

// Returns a time in full: "23 Nov 2026, 14:05:10". It takes Unix seconds or ISO 8601.
export function moment(time) {
  if (isMissing(time)) return NONE;
  return MOMENT.format(typeof time === "number" ? asDate(time) : new Date(time));
}

// Returns the time since then in its largest unit: "21 h", "3 d".
export function idleTime(seconds) {
  if (isMissing(seconds)) return NONE;
  return duration(Math.max(1, Math.floor(Date.now() / 1000 - seconds)), { isRough: true });
}

// Returns the name of a span of a plot: "Mon, 23 Nov, 14:00–14:30" or "Mon, 23 Nov".
export function span({ from, until }) {
  const date = WEEKDAY.format(asDate(from));
  if (until - from >= 23 * 3600) return date;
  return words("day-and-time", { day: date, time: `${clock(from)}–${clock(until)}` });
}
