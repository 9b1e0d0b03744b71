// @ts-check
// Parts of plots: one scale for many systems, intervals, axes, points that a tooltip explains, step charts.

import { el, hideTip, showTip, svg, tipLines } from "./dom.js";
import { fixed, formatDates, roundTicks, tickDecimals } from "./numbers.js";
import { range } from "./values.js";

const SEVERAL = 5; // fewer values have no outliers
const EDGE = 10; // pixels on either side of a scale

const BEYOND = "The scale ends at Tukey's fences (1.5 interquartile ranges from the quartiles of all values and interval ends); " +
  "arrows at its edge mark values that are further away.";

/**
 * Tukey's fences of numbers; infinite if half of these are the same.
 * @param {number[]} numbers
 * @returns {[number, number]}
 */
export function fences(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const quartile = share => {
    const place = share * (sorted.length - 1), below = Math.floor(place);
    return sorted[below] + (place - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
  };
  const lower = quartile(0.25), upper = quartile(0.75), reach = 1.5 * (upper - lower) || Infinity;
  return [lower - reach, upper + reach];
}

/**
 * One scale for many values, which outliers do not set.
 * @param {import("./types").Interval[]} rows
 * @param {number} width
 * @param {number[]} [always] values that are always on the scale
 * @returns {import("./types").Scale}
 */
export function scaleOver(rows, width, always = []) {
  const known = rows.filter(({ value }) => value != null);
  /** @type {number[]} */
  const all = known.flatMap((/** @type {any} */ { value, low, high }) => [value, low ?? value, high ?? value]);
  const spanOf = (lowest, highest) => {
    const inside = [...all.filter(number => number >= lowest && number <= highest), ...always];
    return [Math.min(...inside), Math.max(...inside)];
  };
  const whole = spanOf(-Infinity, Infinity), inner = known.length < SEVERAL ? whole : spanOf(...fences(all));
  const [low, high] = whole[1] - whole[0] > 1.5 * (inner[1] - inner[0]) ? inner : whole;
  const x = value => EDGE + (width - 2 * EDGE) * (high > low ? (Math.min(high, Math.max(low, value)) - low) / (high - low) : 0.5);
  const digits = high > low ? Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(high - low)))) : 2;
  const beyond = all.some(number => number < low || number > high);
  return { low, high, width, x, digits, rule: beyond ? BEYOND : null };
}

/**
 * The axis above drawings: the ends of the scale, and the zero of differences.
 * @param {import("./types").Scale} scale
 * @param {boolean} [zero]
 */
export function axisOf({ low, high, width, x, digits }, zero = false) {
  if (!(low < high)) return null;
  const mark = (value, anchor) => svg("text", { x: anchor === "start" ? 1 : anchor === "end" ? width - 1 : x(value), y: 11,
    "text-anchor": anchor }, value === 0 ? "0" : fixed(value, digits));
  const room = x(0) > 48 && x(0) < width - 48;
  return svg("svg", { class: "axis", width, height: 14, viewBox: `0 0 ${width} 14`, role: "img",
    "aria-label": `from ${fixed(low, digits)} to ${fixed(high, digits)}` },
  mark(low, "start"), mark(high, "end"), zero && room ? mark(0, "middle") : null);
}

const arrow = (tip, to, dot) => svg("path", { class: dot, d: `M${tip} 8l${-7 * to} -4v8z` });

/**
 * A value as a dot on its interval, hollow if it is not `isFilled`; an arrow with the value if it is beyond the scale.
 * @param {import("./types").Scale} scale
 * @param {any} interval
 * @param {string} label
 * @param {{ isFilled?: boolean, zero?: boolean }} [style] `zero` draws the zero of differences
 */
export function drawInterval(scale, { value, low, high }, label, { isFilled = true, zero = false } = {}) {
  const { x, width } = scale, dot = isFilled ? "filled" : "hollow";
  const outside = value < scale.low ? -1 : value > scale.high ? 1 : 0;
  const cut = [[low, scale.low, -1], [high, scale.high, 1]];
  const known = low != null || high != null;
  return svg("svg", { class: "interval", width, height: 16, viewBox: `0 0 ${width} 16`, role: "img", "aria-label": label },
    svg("title", {}, label),
    zero ? svg("line", { class: "zero", x1: x(0), x2: x(0), y1: -6, y2: 22 })
      : svg("line", { class: "rail", x1: EDGE, x2: width - EDGE, y1: 8, y2: 8 }),
    known && !outside ? [
      svg("line", { class: "span", x1: x(low ?? scale.low), x2: x(high ?? scale.high), y1: 8, y2: 8 }),
      ...cut.filter(([end, edge, to]) => end == null || to * (end - edge) > 0)
        .map(([, edge, to]) => svg("path", { class: "cut", d: `M${x(edge) + 2 * to} 4l${4 * to} 4l${-4 * to} 4` })),
    ] : [],
    outside ? [
      arrow(outside < 0 ? 2 : width - 2, outside, dot),
      svg("text", { x: outside < 0 ? 14 : width - 14, y: 12, "text-anchor": outside < 0 ? "start" : "end" }, fixed(value)),
    ] : [svg("circle", { class: dot, cx: x(value), cy: 8, r: 3.5 })]);
}

export const PLOT = { height: 320, left: 66, right: 14, top: 12, bottom: 42 };

/**
 * The width of a plot that is drawn now.
 * @param {HTMLElement} panel
 */
export const widthOf = panel => Math.max(300, Math.min(760, panel.clientWidth || 460));

/**
 * A plot whose points have tooltips: keys go from point to point, the pointer finds the nearest.
 * @param {SVGSVGElement} drawn
 * @param {import("./types").Point[]} points
 * @param {Record<string, string>} labels attributes that name the slider
 */
export function sliderOver(drawn, points, labels) {
  let pointed = 0;
  const mark = svg("circle", { class: "pointed", r: 8, cx: -99, cy: -99 });
  drawn.append(mark);
  const text = () => points[pointed]?.lines().join(". ") ?? "nothing";
  const slider = el("div", { class: "slider", role: "slider", tabindex: 0, ...labels, "aria-valuemin": 1,
    "aria-valuemax": Math.max(1, points.length), "aria-valuenow": 1, "aria-valuetext": text() }, drawn);
  const point = n => {
    if (!points.length) return;
    pointed = Math.max(0, Math.min(points.length - 1, n));
    mark.setAttribute("cx", String(points[pointed].x));
    mark.setAttribute("cy", String(points[pointed].y));
    slider.setAttribute("aria-valuenow", String(pointed + 1));
    slider.setAttribute("aria-valuetext", text());
    showTip(tipLines(points[pointed].lines()), mark);
  };
  const leave = () => {
    mark.setAttribute("cx", "-99");
    hideTip();
  };
  slider.addEventListener("pointermove", event => {
    const box = drawn.getBoundingClientRect(), scale = drawn.viewBox.baseVal.width / box.width;
    const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
    let nearest = -1, least = 18 ** 2;
    points.forEach(({ x, y }, n) => {
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least) [nearest, least] = [n, distance];
    });
    if (nearest >= 0) point(nearest);
    else leave();
  });
  slider.addEventListener("pointerleave", leave);
  slider.addEventListener("focus", () => { if (slider.matches(":focus-visible")) point(pointed); });
  slider.addEventListener("blur", leave);
  slider.addEventListener("keydown", event => {
    const to = { ArrowRight: pointed + 1, ArrowUp: pointed + 1, ArrowLeft: pointed - 1, ArrowDown: pointed - 1, Home: 0,
      End: points.length - 1, PageUp: pointed + 10, PageDown: pointed - 10 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    point(to);
  });
  return slider;
}

// The axes of a plot: a line and a label at each tick.
export const acrossAt = (width, y, text) => svg("g", { class: "tick" },
  svg("line", { x1: PLOT.left, x2: width - PLOT.right, y1: y, y2: y }),
  svg("text", { x: PLOT.left - 6, y: y + 4, "text-anchor": "end" }, text));

export const upAt = (x, text) => svg("g", { class: "tick" },
  svg("line", { x1: x, x2: x, y1: PLOT.top, y2: PLOT.height - PLOT.bottom }),
  svg("text", { x, y: PLOT.height - PLOT.bottom + 16, "text-anchor": "middle" }, text));

export function titlesOf(width, across, up) {
  const { left, right, top, bottom, height } = PLOT;
  return [
    svg("text", { class: "title", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, across),
    svg("text", { class: "title", x: -(top + height - bottom) / 2, y: 12, transform: "rotate(-90)", "text-anchor": "middle" }, up),
  ];
}

const STEPS = { height: 240, left: 62, right: 14, top: 12, bottom: 34 };

/**
 * A step chart of scores over time.
 * @param {{ seconds: number, score: number, isFilled: boolean, text: string }[]} points the texts of their tooltips
 * @param {string} label
 * @param {number} width
 */
export function stepChart(points, label, width) {
  const { height, left, right, top, bottom } = STEPS;
  const scores = points.map(({ score }) => score), times = points.map(({ seconds }) => seconds);
  const pad = (Math.max(...scores) - Math.min(...scores)) * 0.08 || Math.abs(scores[0]) * 0.05 || 1;
  const low = Math.min(...scores) - pad, high = Math.max(...scores) + pad;
  const begin = times[0], end = times[times.length - 1];
  const x = n => left + 8 + (width - left - right - 40) * (end > begin ? (times[n] - begin) / (end - begin) : n / Math.max(1, points.length - 1));
  const y = score => height - bottom - (height - top - bottom) * ((score - low) / (high - low));
  const path = points.map(({ score }, n) => (n ? `H${x(n).toFixed(1)}V${y(score).toFixed(1)}` : `M${x(0).toFixed(1)} ${y(score).toFixed(1)}`));
  const dates = formatDates(times), ticks = roundTicks(low, high, 5), shown = /** @type {number[]} */ ([]);
  const last = points.length - 1, room = 8 * dates[0].length;
  for (const n of range(points.length)) { // as many dates as have room, always with the last one
    if (n === last || n === 0 || (x(n) - x(shown[shown.length - 1]) > room && width - right - x(n) > 1.5 * room)) shown.push(n);
  }
  const anchor = n => (n === 0 ? "start" : n === last ? "end" : "middle");
  return svg("svg", { class: "steps", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    ticks.map(score => svg("g", { class: "tick" },
      svg("line", { x1: left, x2: width - right, y1: y(score), y2: y(score) }),
      svg("text", { x: left - 6, y: y(score) + 4, "text-anchor": "end" }, fixed(score, tickDecimals(ticks))))),
    shown.map(n => svg("text", { x: n === last && n ? width - right : x(n) - (n === 0 ? 8 : 0), y: height - 12, "text-anchor": anchor(n) }, dates[n])),
    svg("path", { class: "stepped", d: `${path.join("")}H${width - right}` }),
    points.map((point, n) => svg("circle", { class: point.isFilled ? "filled" : "hollow", cx: x(n), cy: y(point.score), r: 5 },
      svg("title", {}, `${dates[n]}: ${point.text}`))));
}
