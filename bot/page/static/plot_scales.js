// Scales of the plots: pure functions of numbers and times, without the DOM.

const DECIMAL = [1, 2, 5];
const DURATIONS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const TICK_STEPS_S = [1, 2, 3, 4, 6, 12].map((hours) => hours * HOUR_S);
const TICK_STEPS_DAYS = [1, 2, 3, 5, 7, 14, 30];

// Above this multiple of the ninth decile a value is an outlier: the scale leaves it out.
const OUTLIER = 6;
// Fewer values have no typical size.
const VALUES_TO_JUDGE = 10;

// Returns the smallest round step that is at least `least`: 1, 2 or 5 times a power of ten.
// `isWhole` allows no fractions; `isDuration` prefers steps of the clock from one second on.
export function niceStep(least, { isWhole = false, isDuration = false } = {}) {
  if (isWhole && least <= 1) return 1;
  if (isDuration && least > 1) {
    const step = DURATIONS_S.find((each) => each >= least);
    return step ?? Math.ceil(least / DAY_S) * DAY_S;
  }
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = DECIMAL.find((each) => each * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

// Returns the ticks from 0 up to the first one that is at least `max`. Without values: 0 and 1.
export function niceTicks(max, options = {}, count = 4) {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const step = niceStep(max / count, options);
  const last = Math.ceil(max / step - 1e-9);
  return Array.from({ length: last + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

// Returns the scale of the values (null: no value): its ticks, its top, and how many values lie above it.
// A few huge outliers do not flatten the rest: the top is then near the largest ordinary value.
export function valueScale(values, options = {}) {
  const sorted = values.filter((value) => Number.isFinite(value) && value > 0).sort((a, b) => a - b);
  const max = sorted.at(-1) ?? 0;
  const usual = OUTLIER * (sorted[Math.floor((sorted.length - 1) * 0.9)] ?? 0);
  const hasOutliers = sorted.length >= VALUES_TO_JUDGE && max > usual;
  const ordinary = hasOutliers ? sorted.findLast((value) => value <= usual) : max;
  const ticks = niceTicks(ordinary, options);
  const top = ticks.at(-1);
  return { ticks, top, above: sorted.filter((value) => value > top).length, max };
}

// Returns the runs of neighbouring values as pairs [first, last]; a null ends a run.
export function runs(values) {
  const found = [];
  values.forEach((value, index) => {
    if (value === null) return;
    const last = found.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else found.push([index, index]);
  });
  return found;
}

// Returns times between `from` and `until` (Unix seconds) at round local hours, or at local midnights
// (`isDay`), at most `count` of them. Days keep their midnight when the clocks change.
export function timeTicks(from, until, count) {
  const length = until - from;
  if (!(length > 0) || count < 1) return [];
  const hours = TICK_STEPS_S.find((step) => length / step <= count);
  const days = TICK_STEPS_DAYS.find((step) => length / DAY_S / step <= count) ?? Math.ceil(length / DAY_S / count);
  const next = new Date(from * 1000);
  next.setHours(0, 0, 0, 0);
  const found = [];
  while (next.getTime() / 1000 <= until) {
    const at = next.getTime() / 1000;
    if (at >= from) found.push({ at, isDay: next.getHours() === 0 });
    if (hours) next.setHours(next.getHours() + hours / HOUR_S);
    else next.setDate(next.getDate() + days);
  }
  return found;
}
