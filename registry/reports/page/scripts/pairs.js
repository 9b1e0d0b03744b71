// @ts-check
// Pairs of systems: the matrix of their p-values, and sentences about a pair. All pairs of one system of a large
// leaderboard are in a file next to the page, which is loaded when somebody chooses the system.

import { byId, el, hideTip, nameElement, selectOf, showTip, tipLines } from "./dom.js";
import { fixed, pValue, shortPValue, signed } from "./numbers.js";
import { data, intervalHeading, pairHeading, shown, view } from "./state.js";
import { cellAt, range, visible } from "./values.js";

const WINDOW = 40; // systems on a side of the matrix that are drawn at a time
const PRINTED = 12; // systems up to which p-values stand in the cells

/**
 * The pairs of a leaderboard that the page has, by number.
 * @param {import("./types").Board} board
 * @returns {import("./types").PairIndex}
 */
export function indexPairs(board) {
  const { n } = board, pairs = /** @type {import("./types").Pairs} */ (board.pairs);
  const partners = i => range(Math.min(pairs.reach ?? n, n - 1 - i)).map(j => i + 1 + j);
  const a = pairs.a ?? range(n).flatMap(i => partners(i).map(() => i));
  const b = pairs.b ?? range(n).flatMap(partners);
  const numbers = new Map(a.map((i, k) => [i * n + b[k], k]));
  const standings = board.standings;
  return {
    a, b, count: a.length,
    find: (i, j) => numbers.get(Math.min(i, j) * n + Math.max(i, j)),
    p: k => cellAt(view.p === "raw" ? pairs.p_value : pairs.p_adjusted, k),
    difference: k => cellAt(pairs.difference, k),
    significant(k) {
      if (view.p !== "raw") return pairs.significant[k] === "1";
      const p = this.p(k);
      return p != null && p <= board.alpha;
    },
    sameTeam: k => cellAt(standings.team, a[k]) === cellAt(standings.team, b[k]),
  };
}

/**
 * The figures of a pair as people read them, of the system at `i` against that at `j`.
 * @param {import("./types").Board} board
 * @param {import("./types").PairIndex} all
 * @param {number} i
 * @param {number} j
 * @returns {import("./types").PairFigures}
 */
export function pairFigures(board, all, i, j) {
  const k = /** @type {number} */ (all.find(i, j)), pairs = /** @type {import("./types").Pairs} */ (board.pairs);
  const turned = i > j, sign = turned ? -1 : 1;
  const difference = all.difference(k), low = cellAt(pairs.ci_low, k), high = cellAt(pairs.ci_high, k);
  const ends = turned ? [high, low] : [low, high];
  const turn = value => (value == null ? "–" : fixed(sign * value, board.decimals));
  return {
    difference: difference == null ? "n/a" : signed(sign * difference, board.decimals),
    interval: ends.some(end => end != null) ? `${turn(ends[0])} to ${turn(ends[1])}` : "",
    p: pValue(cellAt(pairs.p_value, k)), adjusted: pValue(cellAt(pairs.p_adjusted, k)), significant: all.significant(k),
    notes: [
      cellAt(pairs.resolved, k) === false ? "Depends on simulation error" : null,
      all.sameTeam(k) ? "Both systems are of one team" : null,
      cellAt(pairs.messages, k)?.replace(/^./u, first => first.toUpperCase()) || null,
    ].filter(note => note != null),
  };
}

/**
 * Lists the different notes of pairs; `numbers` gives the places in the list of a pair's notes.
 * @param {import("./types").PairFigures[]} figures
 */
export function numberNotes(figures) {
  const list = [...new Set(figures.flatMap(({ notes }) => notes))];
  return { list, numbers: ({ notes }) => notes.map(note => list.indexOf(note) + 1).join(", ") };
}

/**
 * Sentences about a pair, for its tooltip.
 * @param {import("./types").Board} board
 * @param {import("./types").PairIndex} all
 * @param {number} i
 * @param {number} j
 */
export function pairLines(board, all, i, j) {
  const figures = pairFigures(board, all, i, j), k = /** @type {number} */ (all.find(i, j));
  const pairs = /** @type {import("./types").Pairs} */ (board.pairs);
  const name = n => visible(cellAt(board.standings.shown, n));
  const counted = cellAt(pairs.n_discordant, k);
  const unit = board.unit === "item" || board.unit === "cluster" ? board.unit : "unit";
  return [
    `${name(i)} against ${name(j)}`,
    `Difference ${figures.difference}` + (figures.interval && `, ${intervalHeading(board)} ${figures.interval}`),
    `p = ${figures.p}` + (board.corrected ? `, adjusted ${figures.adjusted}` : "") +
      (cellAt(pairs.method, k) ? ` (${cellAt(pairs.method, k)})` : ""),
    counted == null ? null : `${counted} ${unit}${counted === 1 ? " differs" : "s differ"}`,
    figures.significant ? "Significant" + (view.p === "raw" && board.corrected ? " without correction" : "") : "Not significant",
    ...figures.notes,
  ].filter(line => line != null);
}

function significanceLevels(board) {
  const levels = [0.001, 0.01, board.alpha].filter(level => level <= board.alpha);
  return levels.map((level, n) => ({ level, depth: 3 - n }));
}

function cellOf(board, all, i, j) {
  if (i === j) return el("td", { class: "same", tabindex: -1, "aria-label": "the same system" });
  const k = all.find(i, j);
  if (k === undefined) {
    const far = Math.abs(i - j) > (board.pairs?.reach ?? board.n);
    return el("td", { class: far && "same", tabindex: -1, "aria-label": far ? "not on this page" : "not compared" });
  }
  const p = all.p(k), band = all.significant(k) && significanceLevels(board).find(({ level }) => p <= level);
  const better = i < j;
  const text = board.n <= PRINTED ? shortPValue(p) : band ? (better ? "+" : "−") : "";
  return el("td", { tabindex: -1, "data-i": i, "data-j": j, class: band && `${better ? "better" : "worse"}${band.depth}` }, text);
}

let corner = { rows: 0, columns: 0 };

/**
 * @param {import("./types").Board} board
 * @param {import("./types").PairIndex} all
 */
export function drawMatrix(board, all) {
  const last = Math.max(0, Math.ceil(board.n / WINDOW) - 1) * WINDOW;
  corner = { rows: Math.min(corner.rows, last), columns: Math.min(corner.columns, last) };
  const stretch = from => range(Math.min(WINDOW, board.n - from)).map(n => from + n);
  const places = stretch(corner.columns);
  const rank = n => cellAt(board.standings.rank, n) ?? "–";
  const heads = places.map(n => el("th", { scope: "col" }, el("span", { "aria-hidden": "true" }, rank(n)),
    el("span", { class: "unseen" }, visible(cellAt(board.standings.shown, n)))));
  const lines = stretch(corner.rows).map(i => el("tr", {},
    el("th", { scope: "row" }, el("span", { class: "quiet" }, `${rank(i)} `), nameElement(cellAt(board.standings.shown, i))),
    places.map(j => cellOf(board, all, i, j))));
  byId("matrix").classList.toggle("printed", board.n <= PRINTED);
  byId("matrix").replaceChildren(el("thead", {}, el("tr", {}, el("td", {}), heads)), el("tbody", {}, lines));
  (byId("matrix").querySelector("td[data-i]") ?? byId("matrix").querySelector("tbody td")).tabIndex = 0;
  drawWindows(board, all);
  const levels = significanceLevels(board);
  byId("legend").replaceChildren(
    ...[["better", "the row's system is better"], ["worse", "the column's is"]].map(([side, text]) => el("li", {},
      levels.map(({ depth }) => el("i", { class: side + depth })), ` ${text}`)),
    el("li", {}, `from strong to faint: ${pairHeading(view.p === "raw" || !board.corrected ? "p_value" : "p_adjusted")} ≤ ${levels.map(({ level }) => level).join(", ")}`),
    el("li", {}, el("i", {}), " not significant"));
}

function drawWindows(board, all) {
  if (board.n <= WINDOW) return byId("windows").replaceChildren();
  const options = range(Math.ceil(board.n / WINDOW)).map(w =>
    [String(w * WINDOW), `${w * WINDOW + 1} to ${Math.min(board.n, (w + 1) * WINDOW)}`]);
  const sides = board.pairs?.reach == null ? [["Rows", "rows"], ["Columns", "columns"]]
    : [["Systems", "rows", "columns"]]; // pairs of neighbours lie along the diagonal
  byId("windows").replaceChildren(...sides.map(([title, ...moved], n) =>
    selectOf(title, options, String(corner[moved[0]]), value => {
      for (const side of moved) corner[side] = Number(value);
      drawMatrix(board, all);
      byId("windows").querySelectorAll("select")[n].focus();
    })));
}

/** Handles keys and pointers on the matrix of the leaderboard that the page shows. */
export function listenToMatrix() {
  const matrix = byId("matrix");
  const show = cell => {
    const { board, all } = shown;
    if (board && all && cell?.dataset.i) showTip(tipLines(pairLines(board, all, +cell.dataset.i, +cell.dataset.j)), cell, cell);
    else hideTip();
  };
  matrix.addEventListener("pointerover", event => show(event.target.closest("td")));
  matrix.addEventListener("pointerleave", hideTip);
  matrix.addEventListener("focusin", event => show(event.target));
  matrix.addEventListener("focusout", hideTip);
  matrix.addEventListener("keydown", event => {
    const cell = event.target, line = cell.parentElement, column = cell.cellIndex;
    const to = {
      ArrowRight: () => cell.nextElementSibling, ArrowLeft: () => line.cells[Math.max(1, column - 1)],
      ArrowDown: () => line.nextElementSibling?.cells[column], ArrowUp: () => line.previousElementSibling?.cells[column],
      Home: () => line.cells[1], End: () => line.cells[line.cells.length - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    const next = to();
    if (!next) return;
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

const loadedPairs = new Map(); // columns of the files that were loaded, by leaderboard and place

// The files call this, and nothing else.
/** @type {any} */ (window).evalregistryPairs = ([key, place, columns]) => loadedPairs.set(`${key} ${place}`, columns);

/** @type {any} */
let addresses; // allows only files of pairs; the policy of a page without such files allows none

function trustedAddress(file) {
  const checked = url => {
    if (!/^[A-Za-z0-9][\w.-]*\.pairs\/\d+\/\d+\.js$/.test(url)) throw new Error(`no file of pairs: ${url}`);
    return url;
  };
  addresses ??= /** @type {any} */ (window).trustedTypes?.createPolicy("pairs", { createScriptURL: checked }) ?? { createScriptURL: checked };
  return addresses.createScriptURL(file);
}

/**
 * The columns of a system's pairs; undefined if their file is absent or belongs to another state of the leaderboard.
 * @param {{ folder: string, key: string }} files
 * @param {number} place
 */
export async function loadPairs({ folder, key }, place) {
  const name = `${key} ${place}`;
  if (!loadedPairs.has(name)) {
    const script = el("script");
    script.src = trustedAddress(`${folder}/${place}.js`);
    await new Promise(done => {
      for (const end of ["load", "error"]) script.addEventListener(end, done);
      document.head.append(script);
    });
    script.remove();
  }
  return loadedPairs.get(name);
}

/**
 * Unpacks integers of 24 bits, each four characters of base64; the largest one is an undefined value.
 * @template T
 * @param {string} text
 * @param {(code: number) => T} value
 */
export function unpack(text, value) {
  const bytes = atob(text);
  return range(bytes.length / 3).map(k => {
    const code = (bytes.charCodeAt(3 * k) << 16) | (bytes.charCodeAt(3 * k + 1) << 8) | bytes.charCodeAt(3 * k + 2);
    return code === 0xffffff ? null : value(code);
  });
}

/** @param {any} column as registry/reports/page packs it */
export function unpackColumn(column) {
  if (column == null) return null;
  if (typeof column === "string") return unpack(column, code => Number(`${code % 10000}e-${Math.floor(code / 10000)}`));
  if (column.of) return column.codes == null ? column.of[0] : unpack(column.codes, code => column.of[code]);
  return unpack(column.codes, code => Number(`${code - 0x800000}e${-column.decimals}`));
}

const unpackColumns = columns => Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, unpackColumn(column)]));

// The page packs its own pairs of a large leaderboard like these files.
for (const board of data.boards) {
  if (board.pairs?.reach == null) continue;
  const { reach, a, b, significant, ...columns } = board.pairs;
  board.pairs = { reach, a, b, significant, ...unpackColumns(columns) };
}

/**
 * A leaderboard with all pairs of one system instead of its own, and the places of the others.
 * @param {import("./types").Board} board
 * @param {number} place
 * @param {any} columns
 * @returns {{ board: import("./types").Board, against: number[] }}
 */
export function withPairsOf(board, place, { others, significant, ...columns }) {
  const against = others ?? range(board.n).filter(n => n !== place);
  return { against, board: { ...board, pairs: { ...unpackColumns(columns), significant, reach: null,
    a: against.map(n => Math.min(n, place)), b: against.map(n => Math.max(n, place)) } } };
}

const pairsByBoard = new WeakMap();

/**
 * The pairs of a leaderboard, indexed once; null if it has none.
 * @param {import("./types").Board} board
 * @returns {import("./types").PairIndex | null}
 */
export function boardPairs(board) {
  if (!board.pairs) return null;
  if (!pairsByBoard.has(board)) pairsByBoard.set(board, indexPairs(board));
  return pairsByBoard.get(board);
}
