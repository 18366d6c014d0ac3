// A repetition in words, from its RRULE (RFC 5545, 3.3.10). Names of days and months are those of the locale.
import { locale } from "./language.js";
import { words } from "./words.js";

const UNITS = { HOURLY: "hour", DAILY: "day", WEEKLY: "week", MONTHLY: "month", YEARLY: "year" };
const DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const WORKWEEK = DAYS.slice(0, 5).join();
const UNDERSTOOD = "FREQ INTERVAL BYDAY BYMONTHDAY BYMONTH BYSETPOS BYHOUR BYMINUTE BYSECOND COUNT UNTIL WKST".split(" ");

const POSITIONS = ["1", "2", "3", "4", "5", "-1", "-2"];

const join = (names) => new Intl.ListFormat(locale, { type: "conjunction" }).format(names);
// Rules have days and months of the Gregorian calendar.
const inUtc = (options) => new Intl.DateTimeFormat(locale, { ...options, calendar: "gregory", timeZone: "UTC" });
const untilDay = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
const dayName = (code) => inUtc({ weekday: "long" }).format(Date.UTC(2024, 0, 1 + DAYS.indexOf(code)));
const monthName = (month) => inUtc({ month: "long" }).format(Date.UTC(2024, month - 1));
const clock = (hour, minute) => inUtc({ timeStyle: "short" }).format(Date.UTC(2024, 0, 1, hour, minute));

// `repeats` is the rule; `starts_at` is the first date, on the clock of the reminder's zone.
export function repetitionWords({ repeats, starts_at: startsAt }) {
  const rule = Object.fromEntries(repeats.split(";").map((part) => part.split("=")));
  const isUnderstood = UNITS[rule.FREQ] && Object.keys(rule).every((key) => UNDERSTOOD.includes(key));
  const days = isUnderstood ? daysOf(rule) : null;
  if (days === null) return words("by-rule", { rule: repeats });
  return endOf(rule, hoursOf(rule, startsAt, monthsOf(rule, days)));
}

// The interval with its days; null for a rule that has no simple words.
function daysOf({ FREQ: frequency, INTERVAL: interval = "1", BYDAY: days, BYMONTHDAY: dates, BYSETPOS: position }) {
  const unit = UNITS[frequency];
  const every = interval === "1" ? words(`every-${unit}`) : words(`every-${unit}s`, { count: Number(interval) });
  if (position !== undefined) return positionedDay(every, days, position);
  const isByWeek = frequency === "WEEKLY" || frequency === "DAILY";
  if (isByWeek && days && !dates && interval === "1")
    return isWorkweek(days) ? words("every-weekday") : words("every-day-of", { days: join(days.split(",").map(dayName)) });
  const named = (days?.split(",") ?? []).map((day) => dayWords(day, isByWeek));
  const dated = (dates?.split(",") ?? []).map(Number);
  // Both together mean the dates that fall on such a day.
  if ((named.length > 0 && dated.length > 0) || named.includes(null) || dated.some((date) => date < -1)) return null;
  const on = [...named, ...dated.map(dateWords)];
  return on.length > 0 ? words("repeated-on", { every, days: join(on) }) : every;
}

function positionedDay(every, days, position) {
  const code = isWorkweek(days ?? "") ? "weekday" : days;
  if (!POSITIONS.includes(position) || !(code === "weekday" || DAYS.includes(code))) return null;
  return words("repeated-on", { every, days: theDay(position, code) });
}

// The first Monday. In some languages the number agrees with the day.
function theDay(position, code) {
  return words(`day-${position}`, { kind: code, day: code === "weekday" ? words("weekday") : dayName(code) });
}

// "MO", "1MO", "-1FR"; null if the position has no word.
function dayWords(day, isByWeek) {
  const [position, code] = [day.slice(0, -2).replace("+", ""), day.slice(-2)];
  if (position === "") return words(isByWeek ? "on-day" : "each-day", { day: dayName(code) });
  return POSITIONS.includes(position) ? theDay(position, code) : null;
}

const dateWords = (date) => (date === -1 ? words("month-last-day") : words("month-day", { day: date }));

function isWorkweek(days) {
  return DAYS.filter((day) => days.split(",").includes(day)).join() === WORKWEEK;
}

function monthsOf({ BYMONTH: months }, repeated) {
  return months ? words("repeated-in", { repeated, months: join(months.split(",").map(monthName)) }) : repeated;
}

function hoursOf({ BYHOUR: hours, BYMINUTE: minute }, startsAt, repeated) {
  if (!hours) return repeated;
  const at = Number(minute ?? startsAt.slice(14, 16));
  return words("repeated-at", { repeated, times: join(hours.split(",").map((hour) => clock(Number(hour), at))) });
}

function endOf({ COUNT: times, UNTIL: last }, repeated) {
  if (times) return words("repeated-times", { repeated, count: Number(times) });
  if (!last) return repeated;
  const [year, month, date] = [last.slice(0, 4), last.slice(4, 6), last.slice(6, 8)].map(Number);
  return words("repeated-until", { repeated, day: untilDay.format(Date.UTC(year, month - 1, date)) });
}
