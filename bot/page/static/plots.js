// Plots over time as SVG: lines or stacked bars, with axes, a legend that is also the readout, and a table.
//
// A plot takes spans of time and series whose values belong to them (null: no value, a gap). The pointer, a
// finger or the arrow keys choose a span; the legend then shows its values.

import { el, svg } from "./dom.js";
import { drawBars, drawLines } from "./plot_marks.js";
import { timeTicks, valueScale } from "./plot_scales.js";
import { clock, day, span } from "./operations_format.js";
import { isolated, words } from "./words.js";

const HEIGHT = 168;
const MARGIN = { top: 12, right: 10, bottom: 24 };
const LETTER = 6.6;
const INVISIBLE = /[\u200c\u2066-\u2069]/g;
const TIME_LABEL = 56;
// Below this many pixels a value, dashes cannot be seen and lines are thin.
const DENSE = 1.5;

// Creates an empty plot: {element, show({spans, series, period})}.
//   id, title    its test id, and its heading
//   kind         "lines" or "bars" (stacked)
//   format       renders a value; `tick` does for the axis, if it differs
//   scale        {isWhole, isDuration} for the ticks; `top` fixes the scale
//   total        computes a series' figure of the whole period, for the legend
//   empty        the sentence if the period has no values
// `series` are {name, values}; their order gives them their colours. `period` names the whole period.
export function createPlot(options) {
  const plot = { ...options, spans: [], series: [], period: "", chosen: null, width: 0 };
  const when = el("p", { class: "plot-when" });
  const legend = el("ul", { class: "plot-legend" });
  const area = el("div", {
    class: "plot-area",
    role: "slider",
    tabindex: 0,
    "aria-label": words("ops-choose-time", { title: options.title }),
    "aria-valuemin": 0,
    "data-testid": `plot-area-${options.id}`,
  });
  const note = el("p", { class: "plot-note", hidden: true });
  const table = el("div", { class: "plot-table" });
  const details = el("details", { class: "plot-details" }, el("summary", null, words("ops-table")), table);
  const head = el("div", { class: "plot-head" }, el("h3", null, options.title), when);
  const element = el(
    "section",
    { class: "plot", "data-testid": `plot-${options.id}`, "aria-label": options.title },
    head, legend, area, note, details,
  );
  const parts = { when, legend, area, note, table, details };

  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width === plot.width) return;
    plot.width = width;
    draw(plot, parts);
  }).observe(area);
  details.addEventListener("toggle", () => fillTable(plot, parts));
  listen(plot, parts);

  function show({ spans, series, period }) {
    const isSamePeriod = period === plot.period && spans.length === plot.spans.length;
    Object.assign(plot, { spans, series, period, chosen: isSamePeriod ? plot.chosen : null });
    draw(plot, parts);
    fillTable(plot, parts);
  }
  return { element, show };
}

function draw(plot, parts) {
  if (!plot.width) return;
  const frame = measure(plot);
  const marks = plot.kind === "bars" ? drawBars(plot, frame) : drawLines(plot, frame);
  plot.frame = frame;
  plot.cursor = svg("g", { class: "plot-cursor" });
  const picture = svg(
    "svg",
    {
      class: frame.step < DENSE ? "dense" : "",
      viewBox: `0 0 ${plot.width} ${HEIGHT}`,
      width: plot.width,
      height: HEIGHT,
      "aria-hidden": "true",
    },
    ...valueAxis(plot, frame), ...timeAxis(plot, frame), ...marks, plot.cursor,
  );
  parts.area.replaceChildren(picture);
  if (!hasValues(plot)) parts.area.append(el("p", { class: "plot-empty", dir: "auto" }, plot.empty));
  const { above, max } = frame.scale;
  parts.note.hidden = above === 0;
  parts.note.textContent = words("ops-above-scale", { count: above, top: plot.format(max) });
  choose(plot, parts, plot.chosen);
}

// Bars of the height 0 show nothing; a line at 0 is a value.
function hasValues({ kind, series }) {
  return series.some(({ values }) => values.some((value) => (kind === "bars" ? value > 0 : value !== null)));
}

// Computes where values and spans lie in the picture.
function measure(plot) {
  const count = plot.spans.length;
  const sizes = plot.kind === "bars" ? stackSizes(plot) : plot.series.flatMap(({ values }) => values);
  const scale = plot.top ? fixedScale(plot.top) : valueScale(sizes, plot.scale);
  const labels = scale.ticks.map((tick) => isolated((plot.tick ?? plot.format)(tick)));
  const left = Math.ceil(Math.max(...labels.map((label) => label.replace(INVISIBLE, "").length)) * LETTER) + 8;
  const inner = { width: Math.max(1, plot.width - left - MARGIN.right), height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const step = inner.width / Math.max(1, count);
  const base = HEIGHT - MARGIN.bottom;
  return {
    scale, labels, left, step, base,
    right: left + inner.width,
    top: MARGIN.top,
    x: (index) => left + (index + 0.5) * step,
    y: (value) => base - (Math.min(value, scale.top) / scale.top) * inner.height,
  };
}

function stackSizes(plot) {
  return plot.spans.map((_, index) => plot.series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
}

function fixedScale(top) {
  return { ticks: [0, top / 2, top], top, above: 0, max: top };
}

function valueAxis(plot, frame) {
  return frame.scale.ticks.flatMap((tick, index) => {
    const y = frame.y(tick);
    return [
      svg("line", { class: tick ? "plot-grid" : "plot-base", x1: frame.left, x2: frame.right, y1: y, y2: y }),
      svg("text", { class: "plot-label", x: frame.left - 6, y: y + 4, "text-anchor": "end" }, frame.labels[index]),
    ];
  });
}

function timeAxis(plot, frame) {
  if (!plot.spans.length) return [];
  const [from, until] = [plot.spans[0].from, plot.spans.at(-1).until];
  const most = Math.max(1, Math.floor((frame.right - frame.left) / TIME_LABEL));
  return timeTicks(from, until, most).flatMap(({ at, isDay }) => {
    const x = frame.left + ((at - from) / (until - from)) * (frame.right - frame.left);
    const label = isDay ? day(at) : clock(at);
    const half = (label.length * LETTER) / 2;
    const mark = svg("line", { class: "plot-base", x1: x, x2: x, y1: frame.base, y2: frame.base + 4 });
    if (x - half < frame.left - 8 || x + half > frame.right + MARGIN.right) return [mark];
    return [mark, svg("text", { class: "plot-label", x, y: frame.base + 17, "text-anchor": "middle" }, label)];
  });
}

// Shows the values of a span in the legend, and a line at its place; null shows the whole period.
function choose(plot, parts, index) {
  plot.chosen = index;
  const chosen = index === null ? null : plot.spans[index];
  const latest = Math.max(0, plot.spans.length - 1);
  parts.when.textContent = chosen ? span(chosen) : plot.period;
  parts.area.setAttribute("aria-valuemax", latest);
  parts.area.setAttribute("aria-valuenow", index ?? latest);
  const figures = plot.series.map(({ values }) => (chosen ? values[index] : plot.total?.(values)));
  const said = figures.map((value, at) => `${plot.series[at].name} ${plot.format(value)}`);
  parts.area.setAttribute("aria-valuetext", `${parts.when.textContent}: ${said.join(words("list-separator")) || plot.empty}`);
  parts.legend.replaceChildren(...plot.series.map(({ name }, at) => legendItem(plot, name, at, figures[at])));
  drawCursor(plot, index);
}

function legendItem(plot, name, at, figure) {
  const isShown = plot.chosen !== null || plot.total;
  return el(
    "li",
    { class: `tone-${at}` },
    el("span", { class: `swatch swatch-${plot.kind}`, "aria-hidden": "true" }, swatch(plot.kind)),
    el("bdi", { class: "plot-name" }, name),
    isShown && el("strong", null, plot.format(figure)),
  );
}

function swatch(kind) {
  const mark = kind === "bars"
    ? svg("rect", { class: "mark-bar", x: 3, y: 1, width: 10, height: 10, rx: 2 })
    : svg("line", { class: "mark-line", x1: 0, x2: 18, y1: 6, y2: 6 });
  return svg("svg", { viewBox: "0 0 18 12", width: 18, height: 12 }, mark);
}

function drawCursor(plot, index) {
  plot.cursor?.replaceChildren();
  if (index === null || !plot.frame) return;
  const { x, y, top, base } = plot.frame;
  plot.cursor.append(svg("line", { class: "cursor-line", x1: x(index), x2: x(index), y1: top, y2: base }));
  if (plot.kind === "bars") return;
  plot.series.forEach(({ values }, at) => {
    if (values[index] === null) return;
    plot.cursor.append(svg("circle", { class: `cursor-dot tone-${at}`, cx: x(index), cy: y(values[index]), r: 4 }));
  });
}

function listen(plot, parts) {
  const { area } = parts;
  const select = (index) => choose(plot, parts, index);
  const point = (event) => {
    if (!plot.frame || !plot.spans.length) return;
    const x = event.clientX - area.getBoundingClientRect().left - plot.frame.left;
    select(Math.min(plot.spans.length - 1, Math.max(0, Math.floor(x / plot.frame.step))));
  };
  area.addEventListener("pointermove", point);
  area.addEventListener("pointerdown", point);
  area.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && select(null));
  area.addEventListener("blur", () => select(null));
  area.addEventListener("keydown", (event) => {
    const next = keyTarget(event.key, plot.chosen, plot.spans.length);
    if (next === undefined) return;
    event.preventDefault();
    select(next);
  });
}

// Returns the span to which a key leads, null for none, or undefined if the key means nothing here.
function keyTarget(key, chosen, length) {
  if (key === "Escape") return null;
  const page = Math.max(1, Math.round(length / 10));
  const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page };
  if (!length || !(key in moves || key === "Home" || key === "End")) return undefined;
  if (key === "Home") return 0;
  if (key === "End" || chosen === null) return length - 1;
  return Math.min(length - 1, Math.max(0, chosen + moves[key]));
}

function fillTable(plot, { table, details }) {
  if (!details.open) return table.replaceChildren();
  const head = [words("ops-time"), ...plot.series.map(({ name }) => name)];
  const rows = plot.spans.map((each, index) =>
    el(
      "tr",
      null,
      el("th", { scope: "row" }, span(each)),
      plot.series.map(({ values }) => el("td", null, plot.format(values[index]))),
    ),
  );
  table.replaceChildren(
    el(
      "table",
      { "aria-label": plot.title },
      el("thead", null, el("tr", null, head.map((name) => el("th", { scope: "col" }, el("bdi", null, name))))),
      el("tbody", null, rows.reverse()),
    ),
  );
}
