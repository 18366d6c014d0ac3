// The marks of a plot: lines with gaps, stacked bars, and signs for values above the scale.

import { svg } from "./dom.js";
import { runs } from "./plot_scales.js";

const WIDEST_BAR = 40;

// Draws each series as a line. A value without neighbours is a dot.
export function drawLines(plot, frame) {
  return plot.series.flatMap(({ values }, at) => [
    svg(
      "g",
      { class: `tone-${at}` },
      ...runs(values).map(([first, last]) => (first === last ? dot(frame, values, first) : line(frame, values, first, last))),
    ),
    ...values.flatMap((value, index) => (value > frame.scale.top ? [aboveSign(frame, index, at)] : [])),
  ]);
}

function line({ x, y }, values, first, last) {
  const points = values.slice(first, last + 1).map((value, index) => `${round(x(first + index))},${round(y(value))}`);
  return svg("polyline", { class: "mark-line", points: points.join(" ") });
}

function dot({ x, y }, values, index) {
  return svg("circle", { class: "mark-dot", cx: round(x(index)), cy: round(y(values[index])), r: 2.5 });
}

// Draws one bar a span, its parts stacked in the order of the series.
export function drawBars(plot, frame) {
  const width = Math.max(1, Math.min(WIDEST_BAR, frame.step - Math.min(3, frame.step / 4)));
  return plot.spans.flatMap((_, index) => {
    let sum = 0;
    const bars = plot.series.flatMap(({ values }, at) => {
      const bottom = frame.y(sum);
      sum += values[index] ?? 0;
      const height = bottom - frame.y(sum);
      if (height <= 0) return [];
      const x = round(frame.x(index) - width / 2);
      const bar = { x, y: round(bottom - height), width: round(width), height: round(height) };
      return [svg("rect", { class: `mark-bar tone-${at}`, ...bar })];
    });
    return sum > frame.scale.top ? [...bars, aboveSign(frame, index)] : bars;
  });
}

// A triangle at the top: the value is above the scale.
function aboveSign({ x, top }, index, at = "") {
  const middle = round(x(index));
  const points = `${middle - 4},${top - 2} ${middle + 4},${top - 2} ${middle},${top - 9}`;
  return svg("polygon", { class: `mark-above tone-${at}`, points });
}

const round = (value) => Math.round(value * 10) / 10;
