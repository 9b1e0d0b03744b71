// @ts-check
// One system against all others: each difference with its interval on one scale, in the order of the leaderboard.

import { afterPaint, byId, column, el, nameElement, numberColumn, rowCells, selectOf } from "./dom.js";
import { counted } from "./numbers.js";
import { indexPairs, loadPairs, numberNotes, pairFigures, withPairsOf } from "./pairs.js";
import { axisOf, drawInterval, scaleOver } from "./plots.js";
import { boardHeading, differenceHeading, intervalHeading, pairHeading, setView, shown, view } from "./state.js";
import { cellAt, range, visible } from "./values.js";

export const FIRST = 40; // rows of the first paint; the others follow

/** @param {import("./types").Board} board */
export function drawDifferences(board) {
  byId("differences").hidden = !board.pairs;
  if (!board.pairs) return;
  const all = shown.all ??= indexPairs(board), names = range(board.n).map(n => cellAt(board.standings.shown, n));
  describeSignificance(board);
  byId("against").replaceChildren(selectOf("Differences to", [["", `the first, ${names[0]}`], ...names.map(name => [name, name])],
    names.includes(view.of) ? view.of : "", value => {
      setView({ of: value });
      openSystem(board, all, names);
    }));
  openSystem(board, all, names);
}

// States what counts as significant.
function describeSignificance(board) {
  const raw = view.p === "raw" && board.corrected;
  byId("p-values").hidden = !board.corrected;
  for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (document.getElementsByName("p"))) input.checked = input.value === view.p;
  byId("significant").textContent = `significant: ${board.corrected && !raw ? pairHeading("p_adjusted") : pairHeading("p_value")} ≤ ${board.alpha}` +
    (raw ? ", without the correction that the leaderboard uses" : board.corrected ? "" : ", not corrected");
}

/**
 * Draws the pairs of the chosen system: those on the page, or those of its file if the page leaves some out.
 * @param {import("./types").Board} board
 * @param {import("./types").PairIndex} all
 * @param {string[]} names
 */
async function openSystem(board, all, names) {
  const chosen = names.indexOf(view.of), place = Math.max(0, chosen), reach = board.pairs?.reach;
  if (reach == null || chosen < 0 || !board.files) {
    const against = range(board.n).filter(n => n !== place && all.find(place, n) !== undefined);
    drawOpponents(board, all, against, place);
    describeOpponents(board, against, place, reach == null ? "" : `, of systems up to ${reach} places apart`);
    return;
  }
  byId("opponents").replaceChildren();
  const columns = await loadPairs(board.files, place);
  if (shown.board !== board || names[place] !== view.of) return; // the user has chosen another one meanwhile
  if (!columns) {
    byId("differences-note").textContent = "The pairs of this system are not available: their file is absent, or belongs to " +
      "another version of the leaderboard.";
    return;
  }
  const loaded = withPairsOf(board, place, columns);
  drawOpponents(loaded.board, indexPairs(loaded.board), loaded.against, place);
  describeOpponents(board, loaded.against, place, "");
}

function describeOpponents(board, against, place, which) {
  byId("differences-note").textContent = `${counted(against.length, "pair")}${which}; ` +
    `differences above 0 are in favour of ${visible(cellAt(board.standings.shown, place))}.`;
}

// The difference of the system at `place` to another one, with the ends of its interval.
function differenceFrom(all, board, place, n) {
  const k = all.find(place, n), sign = place < n ? 1 : -1;
  const value = all.difference(k), ends = [cellAt(board.pairs.ci_low, k), cellAt(board.pairs.ci_high, k)];
  const [low, high] = (place < n ? ends : ends.reverse()).map(end => (end == null ? null : sign * end));
  return { value: value == null ? null : sign * value, low, high };
}

function drawOpponents(board, all, against, place) {
  const rows = against.map(n => ({ n, interval: differenceFrom(all, board, place, n), figures: pairFigures(board, all, place, n) }));
  const scale = scaleOver(rows.map(({ interval }) => interval), innerWidth < 640 ? 108 : 240, [0]);
  const notes = numberNotes(rows.map(({ figures }) => figures));
  const label = ({ difference, interval, significant }) => `${difference}${interval && `, ${interval}`}, ` +
    (significant ? "significant" : "not significant");
  const drawing = ({ interval, figures }) => (interval.value == null ? ""
    : drawInterval(scale, interval, label(figures), { isFilled: figures.significant, zero: true }));
  const columns = [
    numberColumn(boardHeading("rank"), ({ n }) => cellAt(board.standings.rank, n) ?? "–", { class: "right spare" }),
    column(boardHeading("system"), ({ n }) => nameElement(cellAt(board.standings.shown, n)), { isHeader: true }),
    column(["", axisOf(scale, true)], drawing, { title: scale.rule }),
    numberColumn(differenceHeading([board]), ({ figures }) => figures.difference),
    numberColumn(intervalHeading(board), ({ figures }) => figures.interval, { isShown: rows.some(({ figures }) => figures.interval) }),
    numberColumn(pairHeading("p_value"), ({ figures }) => figures.p),
    numberColumn(pairHeading("p_adjusted"), ({ figures }) => figures.adjusted, { isShown: board.corrected }),
    column("result", ({ n, figures }) => (figures.significant ? (place < n ? "win" : "loss") : "undecided")),
    column(pairHeading("messages"), ({ figures }) => notes.numbers(figures), { isShown: notes.list.length > 0 }),
  ].filter(({ isShown = true }) => isShown);
  const head = (/** @type {import("./types").TableColumn} */ { heading, right, class: name, title }) =>
    el("th", { scope: "col", class: name ?? (right && "right"), title }, heading);
  const rowElement = row => el("tr", {}, rowCells(columns, row));
  const body = el("tbody", {}, rows.slice(0, FIRST).map(rowElement));
  byId("opponents").replaceChildren(el("thead", {}, el("tr", {}, columns.map(head))), body);
  byId("forest-notes").replaceChildren(...notes.list.map(note => el("li", {}, visible(note))));
  byId("forest-notes").hidden = !notes.list.length;
  byId("forest-rule").textContent = scale.rule ?? "";
  afterPaint(() => { if (body.isConnected) body.append(...rows.slice(FIRST).map(rowElement)); });
}
