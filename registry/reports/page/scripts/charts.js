// @ts-check
// The charts of a leaderboard: the differences, the pairs (in tabs, of which one is shown) and the trade-offs.

import { intervalOf } from "./boards.js";
import { byId, el, selectOf, svg } from "./dom.js";
import { fixed, roundTicks, tickDecimals, withMinus } from "./numbers.js";
import { drawDifferences } from "./opponents.js";
import { drawMatrix, indexPairs, pairLines } from "./pairs.js";
import { acrossAt, PLOT, scaleOver, sliderOver, titlesOf, upAt, widthOf } from "./plots.js";
import { pairHeading, setView, shown, view } from "./state.js";
import { FACTS } from "./systems.js";
import { cellAt, range, visible } from "./values.js";

const LEAST = 1e-6; // smaller p-values are on the upper edge

// Every pair by its gain and its p-value, on a scale that separates small p-values (Berg-Kirkpatrick et al. 2012).
function drawGains(board, all) {
  const { height, left, right, top, bottom } = PLOT, width = widthOf(byId("chart-gains"));
  const known = range(all.count).filter(k => all.difference(k) != null && all.p(k) != null);
  const scale = scaleOver(known.map(k => ({ value: Math.max(0, all.difference(k)) })), 100, [0]), high = scale.high || 1;
  const x = gain => (gain > high ? width - 6 : left + ((width - left - right) * gain) / high);
  const decades = Math.ceil(-Math.log10(Math.max(LEAST, Math.min(0.01, ...known.map(all.p)))) - 1e-9);
  const y = p => height - bottom - (height - top - bottom) * Math.min(1, -Math.log10(Math.max(p, LEAST)) / decades);
  const points = known.map(k => ({ x: x(Math.max(0, all.difference(k))), y: y(all.p(k)), k,
    lines: () => pairLines(board, all, all.a[k], all.b[k]) })).sort((one, other) => one.x - other.x || other.y - one.y);
  const path = (chosen, mark) => points.filter(({ k }) => chosen(k))
    .map(({ x: px, y: py }) => `M${px.toFixed(1)} ${py.toFixed(1)}${mark}`).join("");
  const beyond = k => all.difference(k) > high, dots = chosen => path(k => chosen(k) && !beyond(k), "h0");
  const arrows = chosen => path(k => chosen(k) && beyond(k), "m4 0l-8-4v8z");
  const label = p => `${p === LEAST ? "≤ " : ""}${p < 0.001 ? p.toExponential() : p}`;
  const level = y(board.alpha), gains = roundTicks(0, high, width / 90);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    range(decades + 1).map(n => acrossAt(width, y(+`1e-${n}`), label(+`1e-${n}`))),
    gains.map(gain => upAt(x(gain), fixed(gain, tickDecimals(gains)))),
    svg("line", { class: "alpha", x1: left, x2: width - right, y1: level, y2: level }),
    svg("path", { class: "teams", d: dots(all.sameTeam) }),
    svg("path", { class: "undecided", d: dots(k => !all.significant(k)) }),
    svg("path", { class: "hole", d: dots(k => !all.significant(k)) }),
    svg("path", { class: "filled", d: dots(k => all.significant(k)) }),
    svg("path", { class: "arrow", d: arrows(k => all.significant(k)) }),
    svg("path", { class: "arrow hollow", d: arrows(k => !all.significant(k)) }),
    titlesOf(width, `difference in ${visible(board.metric_label)}`, pairHeading(view.p === "raw" || !board.corrected ? "p_value" : "p_adjusted")));
  byId("plot").replaceChildren(sliderOver(drawn, points, { "aria-labelledby": "plot-heading", "aria-describedby": "plot-help" }));
  const marked = range(all.count).some(all.sameTeam);
  byId("plot-legend").replaceChildren(el("li", {}, el("i", { class: "dash" }), ` p = ${board.alpha}`),
    ...(scale.rule ? [el("li", {}, scale.rule)] : []), ...(marked ? [el("li", {}, el("i", { class: "dot teams" }), " both of one team")] : []));
}

const LOGARITHMIC = 100; // ratio of the largest to the smallest number from which on the axis is logarithmic
const NAMED = 60; // systems whose names are drawn, if there is room

const compactNumber = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

// Scores against a number of the systems.
function drawTradeOffs(board) {
  const names = Object.keys(board.numbers);
  byId("trade-offs").hidden = !names.length;
  if (!names.length) return;
  const titled = names.map(name => [name, titleOf(name)]);
  const choice = (label, options, key, now) => selectOf(label, options, now, value => {
    setView({ [key]: value });
    drawFront(board, names);
  });
  byId("front-bar").replaceChildren(
    choice("Score against", titled, "by", attributeOf(names)),
    choice("Better is", [["", "less of it"], ["more", "more of it"]], "more", view.more));
  drawFront(board, names);
  redrawOnResize(byId("trade-offs"), () => drawTradeOffs(board));
}

const titleOf = name => visible(FACTS.find(([key]) => key === name)?.[1] ?? name);
const attributeOf = names => (names.includes(view.by) ? view.by : names[0]);

/**
 * The systems with a score and a number, best first; `dominatedBy` is null on the front, where no other system is as good
 * in both and better in one.
 * @param {import("./types").Board} board
 * @param {(number | null)[]} numbers
 * @returns {any[]}
 */
export function findFront(board, numbers) {
  const up = board.better === "lower" ? -1 : 1, across = view.more ? 1 : -1;
  const systems = range(board.n).map(n => /** @type {any} */ ({ n, number: numbers[n], ...intervalOf(board, n) }))
    .filter(({ number, value }) => number != null && value != null)
    .sort((one, other) => across * (other.number - one.number) || up * (other.value - one.value) || one.n - other.n);
  let last = null;
  for (const system of systems) {
    const same = last && system.number === last.number && system.value === last.value;
    system.dominatedBy = !last || same || up * (system.value - last.value) > 0 ? null : last;
    if (!system.dominatedBy) last = system;
  }
  return systems;
}

function drawFront(board, names) {
  const by = attributeOf(names), systems = findFront(board, board.numbers[by]);
  const front = systems.filter(system => !system.dominatedBy), name = ({ n }) => visible(cellAt(board.standings.shown, n));
  const scale = scaleOver(systems, 100), places = placesOf(board, systems, scale);
  const points = systems.map(system => ({ ...places.pointOf(system), lines: () => [
    name(system), `${visible(board.metric_label)} ${withMinus(cellAt(board.standings.printed, system.n))}` +
      (cellAt(board.standings.interval, system.n) && `, interval ${cellAt(board.standings.interval, system.n)}`),
    `${titleOf(by)} ${system.number.toLocaleString("en", { maximumSignificantDigits: 6 })}`,
    system.dominatedBy ? `Not on the front: ${name(system.dominatedBy)} is as good in both, and better in one` : "On the front",
  ] })).sort((one, other) => one.x - other.x);
  const listed = front.slice(0, 12).map(name).join(", ") + (front.length > 12 ? ` and ${front.length - 12} more` : "");
  const without = board.n - systems.length;
  byId("front-note").textContent = `On the front, where no system is as good in both and better in one: ${listed}. ` +
    "It depends only on scores: differences between its systems need not be significant." +
    (without ? ` ${without} ${without === 1 ? "system has" : "systems have"} no such number, or no score.` : "") +
    (scale.rule ? ` ${scale.rule}` : "");
  byId("front").replaceChildren(sliderOver(frontDrawing(board, by, { systems, front, places, name }), points,
    { "aria-labelledby": "front-heading", "aria-describedby": "front-note" }));
}

// Where systems and numbers are on the plot; better scores are at the top.
function placesOf(board, systems, scale) {
  const { height, left, right, top, bottom } = PLOT, width = widthOf(byId("trade-offs"));
  const numbers = systems.map(({ number }) => number), least = Math.min(...numbers), most = Math.max(...numbers);
  const logarithmic = least > 0 && most / least >= LOGARITHMIC, to = logarithmic ? Math.log10 : number => number;
  const [low, high] = [to(least), to(most)];
  const x = number => left + 16 + (width - left - right - 32) * (high > low ? (to(number) - low) / (high - low) : 0.5);
  const share = value => (scale.high > scale.low ? (Math.min(scale.high, Math.max(scale.low, value)) - scale.low) / (scale.high - scale.low) : 0.5);
  const beyond = value => Number(value > scale.high) - Number(value < scale.low), upwards = board.better === "lower" ? -1 : 1;
  const y = value => top + 20 + (height - top - bottom - 40) * (upwards < 0 ? share(value) : 1 - share(value)) - 16 * upwards * beyond(value);
  const decades = range(Math.ceil(high) - Math.floor(low) + 1).flatMap(n => [1, 2, 5].map(digit => +`${digit}e${Math.floor(low) + n}`))
    .filter(number => number >= least && number <= most);
  const powers = decades.filter(number => /^1/.test(number.toExponential()));
  return { width, x, y, beyond, scale, logarithmic, pointOf: ({ number, value }) => ({ x: x(number), y: y(value) }),
    across: !logarithmic ? roundTicks(low, high, width / 100) : decades.length * 60 < width ? decades
      : powers.filter((_, n) => n % Math.ceil((powers.length * 60) / width) === 0),
    up: scale.high > scale.low ? roundTicks(scale.low, scale.high, 5) : [scale.low] };
}

function frontDrawing(board, by, { systems, front, places, name }) {
  const { height, right, left } = PLOT, { width, x, y, scale } = places;
  const end = view.more ? left : width - right;
  const steps = front.map((system, n) => (n ? `H${x(system.number)}V${y(system.value)}` : `M${x(system.number)} ${y(system.value)}`));
  const lines = front.flatMap((system, n) => {
    const next = front[n + 1], from = places.pointOf(system), to = next ? places.pointOf(next) : { x: end, y: from.y };
    return [[from.x, from.y, to.x, from.y], [to.x, from.y, to.x, to.y]];
  });
  const mark = system => {
    const dot = system.dominatedBy ? "hollow" : "filled", { x: cx, y: cy } = places.pointOf(system), away = cy > height / 2 ? 1 : -1;
    return !places.beyond(system.value) ? svg("circle", { class: dot, cx, cy, r: 4.5 })
      : svg("path", { class: dot, d: `M${cx} ${cy + 6 * away}l-5 ${-9 * away}h10z` });
  };
  const whisker = ({ number, low, high }) => (low == null || high == null ? null
    : svg("line", { class: "whisker", x1: x(number), x2: x(number), y1: y(low), y2: y(high) }));
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    places.up.map(value => acrossAt(width, y(value), fixed(value, scale.digits))),
    places.across.map(number => upAt(x(number), compactNumber.format(number))),
    svg("path", { class: "front", d: `${steps.join("")}H${end}` }),
    systems.map(whisker), systems.filter(system => system.dominatedBy).map(mark), front.map(mark),
    placeLabels(systems, places, lines, name),
    titlesOf(width, titleOf(by) + (places.logarithmic ? ", logarithmic" : ""),
      visible(board.metric_label) + (board.better === "lower" ? ", lower is better, on top" : "")));
}

// Names next to their points if they cover nothing, with the value of a point beyond the scale; the front's come first.
function placeLabels(systems, { width, pointOf, beyond }, lines, name) {
  const pen = /** @type {CanvasRenderingContext2D} */ (el("canvas").getContext("2d"));
  pen.font = "11px system-ui, sans-serif";
  const taken = [...systems.map(system => ({ x: pointOf(system).x - 5, y: pointOf(system).y - 5, width: 10, height: 10 })),
    ...lines.map(([x1, y1, x2, y2]) => ({ x: Math.min(x1, x2) - 1, y: Math.min(y1, y2) - 1, width: Math.abs(x2 - x1) + 2,
      height: Math.abs(y2 - y1) + 2 }))];
  const free = box => box.x >= PLOT.left && box.x + box.width <= width - 2 && box.y >= 0 && box.y + box.height <= PLOT.height - PLOT.bottom &&
    !taken.some(other => box.x < other.x + other.width && other.x < box.x + box.width &&
      box.y < other.y + other.height && other.y < box.y + box.height);
  return [...systems].sort((one, other) => Number(Boolean(one.dominatedBy)) - Number(Boolean(other.dominatedBy)) || one.n - other.n)
    .slice(0, NAMED).map(system => {
      const { x, y } = pointOf(system), full = name(system);
      const text = (full.length > 24 ? `${full.slice(0, 23)}…` : full) + (beyond(system.value) ? ` ${fixed(system.value)}` : "");
      const length = pen.measureText(text).width + 4;
      const box = [[8, -7], [-length - 8, -7], [-length / 2, -21], [-length / 2, 8], [6, -19], [6, 5], [-length - 6, -19], [-length - 6, 5]]
        .map(([dx, dy]) => ({ x: x + dx, y: y + dy, width: length, height: 14 })).find(free);
      if (!box) return null;
      taken.push(box);
      return svg("text", { class: system.dominatedBy ? null : "title", x: box.x + 2, y: box.y + 11 }, text);
    });
}

/** @type {{ key: string, title: string, draw: (board: any, all: any) => void }[]} */
const CHARTS = [
  { key: "matrix", title: "p-value of every pair", draw: drawMatrix },
  { key: "gains", title: "p-values and differences", draw: drawGains },
];

/** @type {{ panel: HTMLElement, width: number, draw: () => void }[]} */
let drawings = []; // those on the page that depend on the width of their panels

/** @param {import("./types").Board} board */
export function drawCharts(board) {
  drawings = [];
  drawDifferences(board);
  drawPairs(board);
  drawTradeOffs(board);
}

// A table of two systems has a single pair, which is in the section of differences.
function drawPairs(board) {
  byId("pairs").hidden = !board.pairs || board.n < 3;
  if (byId("pairs").hidden) return;
  const chosen = CHARTS.find(({ key }) => key === view.chart) ?? CHARTS[0];
  setView({ chart: chosen === CHARTS[0] ? "" : chosen.key });
  drawTabs(board, chosen);
  for (const { key } of CHARTS) byId(`chart-${key}`).hidden = key !== chosen.key;
  shown.all ??= indexPairs(board);
  byId("left-out").hidden = board.pairs.reach == null;
  byId("left-out").textContent = `This page has the pairs of systems up to ${board.pairs.reach} places apart, because all ` +
    `${board.n_pairs.toLocaleString("en")} pairs would make it too large` +
    (board.files ? "; Differences shows all pairs of a system that you choose." : ".");
  chosen.draw(board, shown.all);
  drawings = drawings.filter(({ panel }) => panel !== byId("chart-gains"));
  if (chosen.key === "gains") redrawOnResize(byId("chart-gains"), () => drawPairs(board));
}

function drawTabs(board, chosen) {
  const open = key => {
    setView({ chart: key });
    drawPairs(board);
    byId(`tab-${key}`).focus();
  };
  const tab = ({ key, title }) => {
    const button = el("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `chart-${key}`,
      "aria-selected": key === chosen.key ? "true" : "false", tabindex: key === chosen.key ? 0 : -1 }, title);
    button.addEventListener("click", () => open(key));
    return button;
  };
  byId("tabs").replaceChildren(...CHARTS.map(tab));
  byId("tabs").onkeydown = event => {
    const now = CHARTS.indexOf(chosen), last = CHARTS.length - 1;
    const to = { ArrowRight: now === last ? 0 : now + 1, ArrowLeft: now ? now - 1 : last, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(CHARTS[to].key);
  };
}

const redrawOnResize = (panel, draw) => drawings.push({ panel, width: panel.clientWidth, draw });

/** Draws charts again if the width of their panels has changed. */
export function redrawCharts() {
  const changed = drawings.filter(({ panel, width }) => Math.abs(panel.clientWidth - width) > 8);
  drawings = drawings.filter(drawing => !changed.includes(drawing));
  for (const { draw } of changed) draw();
}
