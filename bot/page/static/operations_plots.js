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

const REFRESH_S = 60;
const RANGES = [
  { id: "24", name: "24 hours" },
  { id: "720", name: "30 days" },
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
    unpriced.textContent = `Without prices in MODELS there is no cost: ${models.join(", ")}.`;
  }

  const loads = repeated(load, REFRESH_S);
  const choose = (id) => {
    hours = id;
    load();
  };
  const head = el("div", { class: "ops-plots-head" }, el("h2", null, "Over time"), segments("Period", RANGES, hours, choose));
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
    empty: "No turns in this period.",
  };
  return [
    { ...counts, id: "turns", title: "Turns", scale: { isWhole: true }, empty: "No turns in this period.", series: turnSeries },
    { ...times, id: "p50", title: "Median answer time (p50)", series: (points) => stageSeries(points, "p50") },
    { ...times, id: "p95", title: "Slow answer time (p95)", series: (points) => stageSeries(points, "p95") },
    {
      ...counts,
      id: "tokens",
      title: "Tokens by model",
      scale: { isWhole: true },
      empty: "No tokens in this period.",
      series: (spans) => modelSeries(spans, tokensOf),
    },
    {
      ...counts,
      id: "cost",
      title: "Cost by model",
      format: money,
      tick: money,
      empty: "No cost: no turns in this period, or no prices.",
      series: (spans) => modelSeries(spans, costOf),
    },
    {
      kind: "lines",
      id: "recall",
      title: "Share of turns with recall",
      format: percent,
      top: 1,
      empty: "No turns in this period.",
      series: recallSeries,
    },
  ].map((options) => ({ ...options, ...createPlot(options) }));
}
