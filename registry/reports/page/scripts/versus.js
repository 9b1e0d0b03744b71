// @ts-check
// Two systems side by side: their difference by every metric, and the answers that only one of them gives (Evert 2004).

import { byId, column, el, nameElement, numberColumn, scrollable, selectOf, svg, tableOf } from "./dom.js";
import { chosenRuns, isAnsweredDifferently, itemsOf } from "./item-data.js";
import { drawItems } from "./items.js";
import { counted, fixed, percent, withMinus } from "./numbers.js";
import { boardPairs, pairFigures } from "./pairs.js";
import { boardHeading, data, differenceHeading, hrefWith, pairHeading, setView, view, viewOf, WHOLE } from "./state.js";
import { chosenNames, nameOf, numberOf, placeOn, systemNumbers } from "./systems.js";
import { cellAt, range, visible } from "./values.js";

// Keeps the focus on the control that was used.
function redraw(draw) {
  const focused = document.activeElement?.id;
  draw();
  if (focused) byId(focused)?.focus();
}

/**
 * Selects one of the two systems, or both.
 * @param {import("./types").Board} board
 * @param {Partial<typeof view>} changes
 */
export function chooseTwo(board, changes) {
  setView(changes);
  redraw(() => {
    drawVersus(board);
    drawItems(board);
  });
}

/** @param {import("./types").Board} board */
export function drawVersus(board) {
  byId("versus").hidden = board.n < 2;
  if (board.n < 2) return;
  const options = [["", "no system"], ...range(board.n).map(place => {
    const name = nameOf(numberOf(board.standings, place));
    return [name, name];
  })];
  byId("versus-bar").replaceChildren(...[["First system", "a"], ["Second system", "b"]].map(([label, side]) =>
    selectOf(label, options, view[side], value => chooseTwo(board, { [side]: value }))));
  byId("versus-bar").hidden = board.n === 2;
  const two = chosenNames(board).map(name => systemNumbers.get(name));
  const both = two.every(n => n !== undefined && placeOn(board, n) !== undefined) && two[0] !== two[1];
  byId("versus").classList.toggle("unprinted", !both);
  byId("versus-body").replaceChildren(...(both ? [compareScores(board, two[0], two[1]), ...regionsOf(board, two[0], two[1]), countDifferingItems(board)]
    : [el("p", { class: "quiet" }, "Choose two systems to see their difference by every metric, and the answers that only one of them gives.")])
    .filter(node => node != null));
}

// The scores and the difference of two systems on every leaderboard that both are on.
function compareScores(board, a, b) {
  const boards = data.boards.filter(other => (other.track ?? "") === (board.track ?? "") &&
    placeOn(other, a) !== undefined && placeOn(other, b) !== undefined);
  const rows = boards.map(other => {
    const i = placeOn(other, a), j = placeOn(other, b), all = boardPairs(other);
    return { other, i, j, figures: all?.find(i, j) === undefined ? null : pairFigures(other, all, i, j) };
  });
  const score = (other, place) => withMinus(cellAt(other.standings.printed, place));
  const facets = boards.some(other => other.facet != null), sets = new Set(boards.map(other => other.test_set)).size > 1;
  return scrollable("Difference of the two systems", tableOf([
    column(boardHeading("test_set"), ({ other }) => visible(other.test_set), { isShown: sets }),
    column(boardHeading("facet"), ({ other }) => (other.facet == null ? WHOLE.facet : visible(other.facet)), { isShown: facets }),
    column(boardHeading("metric"), ({ other }) => el("a", { href: hrefWith(viewOf(other)) }, visible(other.metric)), { isHeader: true }),
    numberColumn(nameElement(nameOf(a)), ({ other, i }) => score(other, i)),
    numberColumn(nameElement(nameOf(b)), ({ other, j }) => score(other, j)),
    numberColumn(differenceHeading(boards), ({ figures }) => figures?.difference ?? "not on this page"),
    numberColumn(pairHeading("interval"), ({ other, figures }) => (figures?.interval ? `${figures.interval} (${100 * other.confidence} %)` : ""),
      { isShown: rows.some(({ figures }) => figures?.interval) }),
    numberColumn(pairHeading("p_value"), ({ figures }) => figures?.p ?? ""),
    numberColumn(pairHeading("p_adjusted"), ({ figures }) => figures?.adjusted ?? "", { isShown: boards.some(other => other.corrected) }),
    column("significantly better", ({ figures, i, j }) =>
      (!figures ? "" : figures.significant ? nameElement(nameOf(i < j ? a : b)) : "neither")),
    column(pairHeading("messages"), ({ figures }) => (figures ? el("span", { class: "said" }, visible(figures.notes.join(". "))) : ""),
      { isShown: rows.some(({ figures }) => figures?.notes.length) }),
  ], rows, { id: "versus-metrics" }));
}

// The answers that only the first gives (D1), only the second (D2), and both, each with its correct and incorrect ones.
function regionsOf(board, a, b) {
  const regions = data.details.regions[board.test_set];
  if (!regions) return [];
  const k = regions.a.findIndex((first, n) => (first === a && regions.b[n] === b) || (first === b && regions.b[n] === a));
  const title = el("h3", {}, "Answers of one and of both");
  if (k < 0) {
    return [title, el("p", { class: "quiet" }, "This page has these counts only for systems next to each other on the leaderboard, and for " +
      "each system and the best one.")];
  }
  const counts = name => [cellAt(regions[`${name}_tp`], k), cellAt(regions[`${name}_fp`], k)];
  const [d1, d2] = regions.a[k] === a ? ["d1", "d2"] : ["d2", "d1"];
  const rows = [[["only ", nameElement(nameOf(a)), " (D1)"], ...counts(d1)], [["only ", nameElement(nameOf(b)), " (D2)"], ...counts(d2)],
    [["both"], ...counts("shared")]];
  const most = Math.max(1, ...rows.map(([, right, wrong]) => right + wrong));
  const count = n => (Number.isInteger(n) ? n.toLocaleString("en") : fixed(n, 1));
  return [title,
    el("p", { class: "quiet" }, `On all items of ${visible(board.test_set)}, whose gold has ${counted(regions.gold, "answer")}. Answers of both do not show which is better.`),
    scrollable("Answers that one or both give", tableOf([
      column("answers of", ([who]) => who, { isHeader: true }),
      numberColumn("answers", ([, right, wrong]) => count(right + wrong)),
      numberColumn("correct", ([, right]) => count(right)), numberColumn("incorrect", ([, , wrong]) => count(wrong)),
      numberColumn("share correct", ([, right, wrong]) => (right + wrong ? percent(right / (right + wrong)) : "–")),
      column("", ([, right, wrong]) => drawBar(right, wrong, most)),
    ], rows, { id: "regions" }))];
}

// A bar of correct and incorrect answers; the longest one is 160 wide.
const drawBar = (right, wrong, most) => svg("svg", { class: "stacked", width: 160, height: 10, "aria-hidden": "true" },
  svg("rect", { class: "wins", x: 0, y: 0, width: (160 * right) / most, height: 10 }),
  svg("rect", { class: "losses", x: (160 * right) / most, y: 0, width: (160 * wrong) / most, height: 10 }));

// On how many of the items below the two systems differ.
function countDifferingItems(board) {
  const itemSet = itemsOf(board);
  if (!itemSet?.items.length) return null;
  const chosen = chosenRuns(itemSet), n = itemSet.items.filter(item => isAnsweredDifferently(item, chosen)).length;
  const button = el("button", { type: "button" }, "Show these");
  button.addEventListener("click", () => {
    byId("items-heading").scrollIntoView();
    byId("items-heading").focus({ preventScroll: true });
  });
  return el("p", {}, `They answer ${n} of ${counted(itemSet.items.length, "item")} below differently. `,
    n ? button : null);
}
