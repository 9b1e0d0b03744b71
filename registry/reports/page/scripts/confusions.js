// @ts-check
// What a system answers if the gold has something else: a matrix of few labels, a list of many.

import { column, el, nameElement, numberColumn, scrollable, tableOf } from "./dom.js";
import { percent } from "./numbers.js";
import { boardHeading, data } from "./state.js";
import { range, visible } from "./values.js";

const SHADES = [0.5, 0.2, 0.05]; // least shares of the gold's items for a deep, middle or faint cell

/**
 * @param {import("./types").Board} board
 * @param {number} n the system's number on the page
 */
export function confusionOf(board, n) {
  const confusions = data.confusions[board.test_set];
  if (!confusions) return null;
  const what = confusions.typed ? "types" : "labels";
  const numbers = confusions.systems[n];
  const text = `The ${what} of the gold of ${visible(board.test_set)}, and the answers of the system` +
    (confusions.typed ? " at the same place, such as spans of the same tokens." : ".") +
    (confusions.other ? " All other labels count as one." : "");
  if (!numbers) {
    return el("p", { class: "quiet" }, confusions.left_out
      ? "This page has the confusions of some systems only, because it would be too large."
      : "The system confuses no labels.");
  }
  const cells = range(numbers.length / 3).map(k => numbers.slice(3 * k, 3 * k + 3));
  return [el("p", { class: "quiet" }, text), ...(confusions.matrix ? [matrixOf(confusions, cells)] : listOf(confusions, cells))];
}

function matrixOf(confusions, cells) {
  const count = (gold, predicted) => cells.find(([g, p]) => g === gold && p === predicted)?.[2] ?? 0;
  const places = range(confusions.labels.length), none = [-1];
  const predicted = [...places, ...(cells.some(([, p]) => p < 0) ? none : [])];
  const golds = [...places, ...(cells.some(([g]) => g < 0) ? none : [])];
  const inRow = gold => predicted.reduce((sum, p) => sum + count(gold, p), 0);
  const inColumn = p => golds.reduce((sum, gold) => sum + count(gold, p), 0);
  const share = (n, all) => (all ? percent(n / all) : "–");
  const isNamed = p => p >= 0 && !(confusions.other && p === places.length - 1);
  const shade = (gold, p) => {
    const level = SHADES.findIndex(least => count(gold, p) >= least * inRow(gold));
    return gold < 0 || level < 0 || !count(gold, p) ? null : `${gold === p ? "agreed" : "confused"}${3 - level}`;
  };
  const label = (n, without) => (n < 0 ? el("i", {}, without) : nameElement(confusions.labels[n]));
  return scrollable("Confusion matrix", el("table", { class: "confusion" },
    el("thead", {}, el("tr", {}, el("td", {}, "gold ↓ system →"), predicted.map(p => el("th", { scope: "col" }, label(p, "no response"))),
      el("th", { scope: "col" }, "recall"))),
    el("tbody", {}, golds.map(gold => el("tr", {}, el("th", { scope: "row" }, label(gold, "not in the gold")),
      predicted.map(p => el("td", { class: shade(gold, p) }, gold < 0 && p < 0 ? "" : count(gold, p).toLocaleString("en"))),
      el("td", { class: "margin" }, isNamed(gold) ? share(count(gold, gold), inRow(gold)) : "")))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "precision"),
      predicted.map(p => el("td", { class: "margin" }, isNamed(p) ? share(count(p, p), inColumn(p)) : "")), el("td")))));
}

function listOf(confusions, cells) {
  const label = (n, without) => (n < 0 ? el("i", {}, without) : nameElement(confusions.labels[n]));
  return [el("p", { class: "quiet" }, `Of ${confusions.labels.length} ${confusions.typed ? "types, the confusions that are most frequent where gold and system both have one" : "labels, the confusions that are most frequent"}.`),
    scrollable("Most frequent confusions", tableOf([
      column("gold", ([gold]) => label(gold, "not in the gold"), { isHeader: true }),
      column(boardHeading("system"), ([, p]) => label(p, "no response")),
      numberColumn("how often", ([, , n]) => n.toLocaleString("en")),
      numberColumn("in the gold", ([gold]) => (gold < 0 ? "" : confusions.gold[gold].toLocaleString("en"))),
    ], cells), cells.length > 12)];
}
