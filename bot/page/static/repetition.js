// A repetition in words, from its RRULE (RFC 5545, 3.3.10). Names of days and months are in the person's locale.
import { words } from "./words.js";

const UNITS = { HOURLY: "hour", DAILY: "day", WEEKLY: "week", MONTHLY: "month", YEARLY: "year" };
const DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const WORKWEEK = DAYS.slice(0, 5).join();
const UNDERSTOOD = "FREQ INTERVAL BYDAY BYMONTHDAY BYMONTH BYSETPOS BYHOUR BYMINUTE BYSECOND COUNT UNTIL WKST".split(" ");

const join = (names) => new Intl.ListFormat(undefined, { type: "conjunction" }).format(names);
const inUtc = (options) => new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" });
const dayName = (code) => inUtc({ weekday: "long" }).format(Date.UTC(2024, 0, 1 + DAYS.indexOf(code)));
const monthName = (month) => inUtc({ month: "long" }).format(Date.UTC(2024, month - 1));
const clock = (hour, minute) => inUtc({ hour: "numeric", minute: "2-digit" }).format(Date.UTC(2024, 0, 1, hour, minute));

// `repeats` is the rule; `starts_at` is the first date, on the clock of the reminder's zone.
export function repetitionWords({ repeats, starts_at: startsAt }) {
  const rule = Object.fromEntries(repeats.split(";").map((part) => part.split("=")));
  const isUnderstood = UNITS[rule.FREQ] && Object.keys(rule).every((key) => UNDERSTOOD.includes(key));
  const days = isUnderstood ? daysOf(rule) : null;
  if (days === null) return words.byRule(repeats);
  return [days, monthsOf(rule), hoursOf(rule, startsAt), endOf(rule)].join("");
}

// The interval with its days; null for a rule that has no simple words.
function daysOf({ FREQ: frequency, INTERVAL: interval = "1", BYDAY: days, BYMONTHDAY: dates, BYSETPOS: position }) {
  const every = words.everyUnit(Number(interval), UNITS[frequency]);
  if (position !== undefined) return positionedDay(every, days, position);
  const isByWeek = frequency === "WEEKLY" || frequency === "DAILY";
  if (isByWeek && days && !dates && interval === "1")
    return isWorkweek(days) ? words.everyWeekday : words.everyDay(join(days.split(",").map(dayName)));
  const named = (days?.split(",") ?? []).map((day) => dayWords(day, isByWeek));
  const dated = (dates?.split(",") ?? []).map(Number);
  // Both together mean the dates that fall on such a day.
  if ((named.length > 0 && dated.length > 0) || named.includes(null) || dated.some((date) => date < -1)) return null;
  const on = [...named, ...dated.map(words.dayOfMonth)];
  return every + (on.length > 0 ? words.on(join(on)) : "");
}

function positionedDay(every, days, position) {
  if (!days || !words.isPosition(position)) return null;
  if (isWorkweek(days)) return every + words.on(words.theDay(position, words.weekday));
  return DAYS.includes(days) ? every + words.on(words.theDay(position, dayName(days))) : null;
}

// "MO", "1MO", "-1FR"; null if the position has no word.
function dayWords(day, isByWeek) {
  const [position, code] = [day.slice(0, -2).replace("+", ""), day.slice(-2)];
  if (position === "") return isByWeek ? dayName(code) : words.each(dayName(code));
  return words.isPosition(position) ? words.theDay(position, dayName(code)) : null;
}

function isWorkweek(days) {
  return DAYS.filter((day) => days.split(",").includes(day)).join() === WORKWEEK;
}

function monthsOf({ BYMONTH: months }) {
  return months ? words.inMonths(join(months.split(",").map(monthName))) : "";
}

function hoursOf({ BYHOUR: hours, BYMINUTE: minute }, startsAt) {
  const at = minute ?? startsAt.slice(14, 16);
  return hours ? words.at(join(hours.split(",").map((hour) => clock(Number(hour), Number(at))))) : "";
}

function endOf({ COUNT: times, UNTIL: last }) {
  if (times) return words.inAll(Number(times));
  if (!last) return "";
  const [year, month, date] = [last.slice(0, 4), last.slice(4, 6), last.slice(6, 8)].map(Number);
  return words.until(inUtc({ dateStyle: "long" }).format(Date.UTC(year, month - 1, date)));
}
