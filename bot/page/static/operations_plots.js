// The plots of the operators' page: 24 hours or 30 days, loaded again every minute.

import { el, fill } from "./dom.js";
import { compact, duration, money, percent, short } from "./operations_format.js";
import { problem, repeated, segments, waiting } from "./operations_parts.js";
import {
  costOf,
  groupPoints,
  modelSeries,
  recallSeries,
  stageSeries,
  tokensOf,
  turnSeries,
  unpricedModels,
} from "./operations_series.js";
import { createPlot } from "./plots.js";
import { words } from "./words.js";

const REFRESH_S = 60;
const RANGES = [
  { id: "24", name: words("ops-hours", { count: 24 }) },
  { id: "720", name: words("ops-days", { count: 30 }) },
];
const sum = (values) => values.reduce((total, value) => total + (value ?? 0), 0);

export function plotsOf(api) {
  let hours = RANGES[0].id;
  const plots = createPlots();
  const grid = el("div", { class: "ops-plots", "data-testid": "ops-plots", hidden: true }, plots.map(({ element }) => element));
  const trouble = el("div", null, waiting());
  const unpriced = el("p", { class: "ops-hint", hidden: true, "data-testid": "unpriced" });

  async function load() {
    const wanted = hours;
    try {
      const series = await api.get(`operations/series?hours=${wanted}`);
      if (wanted === hours) show(series);
      return true;
    } catch (error) {
      if (wanted === hours) fill(trouble, problem(error, load));
      return false;
    }
  }

  function show({ points, step_s: step }) {
    fill(trouble);
    grid.hidden = false;
    const period = RANGES.find(({ id }) => id === hours).name;
    const fine = points.map((point) => ({ from: point.at, until: point.at + step }));
    const coarse = groupPoints(points, step);
    for (const { show: showPlot, series, isFine } of plots) {
      const spans = isFine ? fine : coarse;
      showPlot({ spans, series: series(isFine ? points : coarse), period });
    }
    const models = unpricedModels(points);
    unpriced.hidden = models.length === 0;
    unpriced.textContent = words("ops-unpriced", { models: models.join(words("list-separator")) });
  }

  const loads = repeated(load, REFRESH_S);
  const choose = (id) => {
    hours = id;
    load();
  };
  const head = el("div", { class: "ops-plots-head" }, el("h2", null, words("ops-over-time")), segments(words("ops-period"), RANGES, hours, choose));
  return { element: el("div", { class: "ops-over-time" }, head, trouble, grid, unpriced), ...loads };
}

// Creates the plots. `series` computes a plot's series from points (`isFine`) or from groups of points.
function createPlots() {
  const counts = { kind: "bars", total: sum, format: compact, tick: short };
  const times = {
    kind: "lines",
    format: duration,
    scale: { isDuration: true },
    isFine: true,
    empty: words("ops-turns-none"),
  };
  return [
    { ...counts, id: "turns", title: words("ops-turns"), scale: { isWhole: true }, empty: words("ops-turns-none"), series: turnSeries },
    { ...times, id: "p50", title: words("ops-p50"), series: (points) => stageSeries(points, "p50") },
    { ...times, id: "p95", title: words("ops-p95"), series: (points) => stageSeries(points, "p95") },
    {
      ...counts,
      id: "tokens",
      title: words("ops-tokens-by-model"),
      scale: { isWhole: true },
      empty: words("ops-tokens-none"),
      series: (spans) => modelSeries(spans, tokensOf),
    },
    {
      ...counts,
      id: "cost",
      title: words("ops-cost-by-model"),
      format: money,
      tick: money,
      empty: words("ops-cost-none"),
      series: (spans) => modelSeries(spans, costOf),
    },
    {
      kind: "lines",
      id: "recall",
      title: words("ops-recall-share"),
      format: percent,
      top: 1,
      empty: words("ops-turns-none"),
      series: recallSeries,
    },
  ].map((options) => ({ ...options, ...createPlot(options) }));
}
