// Series of the plots, computed from the service's points: pure functions without the DOM.
import { words } from "./words.js";

const MODELS_SHOWN = 5;
const BARS = 48;
const BAR_STEPS_S = [600, 1800, 3600, 2 * 3600, 6 * 3600, 12 * 3600, 86400];
const STAGES = ["whole", "answering", "waiting", "delivering"];

// Returns the points as spans, each with its own points: at most about 48, with round local times.
export function groupPoints(points, stepS) {
  const length = points.length * stepS;
  const size = BAR_STEPS_S.find((each) => each >= stepS && length / each <= BARS) ?? Math.max(stepS, 86400);
  const groups = new Map();
  for (const point of points) {
    const start = localStart(point.at, size);
    if (!groups.has(start)) groups.set(start, []);
    groups.get(start).push(point);
  }
  return [...groups.values()].map((members) => ({
    from: members[0].at,
    until: members.at(-1).at + stepS,
    points: members,
  }));
}

// Returns the start of the span of `size` seconds that holds the time, counted from local midnight.
function localStart(at, size) {
  const midnight = new Date(at * 1000);
  midnight.setHours(0, 0, 0, 0);
  const zero = midnight.getTime() / 1000;
  return zero + Math.floor((at - zero) / size) * size;
}

const isNumber = (value) => Number.isFinite(value);
const sumOf = (points, figure) => points.reduce((sum, point) => sum + (figure(point) ?? 0), 0);

export function turnSeries(spans) {
  return [{ name: words("ops-turns"), values: spans.map(({ points }) => sumOf(points, (point) => point.turns)) }];
}

// Returns the share of turns with recall; null where no turn was.
export function recallSeries(spans) {
  const values = spans.map(({ points }) => {
    const turns = sumOf(points, (point) => point.turns);
    return turns ? Math.min(1, sumOf(points, (point) => point.recalled) / turns) : null;
  });
  return [{ name: words("ops-with-recall"), values }];
}

// Returns the stages' answer times at a quantile ("p50" or "p95"), one value a point.
export function stageSeries(points, quantile) {
  const present = STAGES.filter((stage) => points.some((point) => isNumber(point.stages?.[stage]?.[quantile])));
  return present.map((stage) => ({
    name: words(`ops-stage-${stage}`),
    values: points.map((point) => point.stages?.[stage]?.[quantile] ?? null),
  }));
}

// Returns a series for each model, the largest first; small ones are joined. `figure` reads a model's entry.
export function modelSeries(spans, figure) {
  const totals = new Map();
  for (const { points } of spans) {
    for (const point of points) {
      for (const [model, entry] of Object.entries(point.models ?? {})) {
        totals.set(model, (totals.get(model) ?? 0) + (figure(entry) ?? 0));
      }
    }
  }
  const ranked = [...totals].filter(([, total]) => total > 0).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const names = ranked.map(([model]) => model);
  const alone = names.length > MODELS_SHOWN ? names.slice(0, MODELS_SHOWN - 1) : names;
  const rest = names.slice(alone.length);
  const groups = [...alone.map((model) => [model, [model]]), ...(rest.length ? [[words("ops-other-models"), rest]] : [])];
  return groups.map(([name, models]) => ({
    name,
    values: spans.map(({ points }) =>
      sumOf(points, (point) => models.reduce((sum, model) => sum + (figure(point.models?.[model] ?? {}) ?? 0), 0)),
    ),
  }));
}

export const tokensOf = (entry) => (entry.prompt_tokens ?? 0) + (entry.completion_tokens ?? 0);
export const costOf = (entry) => entry.cost ?? 0;

// Returns the models that were used but have no price: their cost is missing from the plot.
export function unpricedModels(points) {
  const found = new Set();
  for (const point of points) {
    for (const [model, entry] of Object.entries(point.models ?? {})) {
      if (entry.cost === null && tokensOf(entry) > 0) found.add(model);
    }
  }
  return [...found].sort();
}
