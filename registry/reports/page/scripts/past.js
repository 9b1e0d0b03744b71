// @ts-check
// How the best score moved over time: a step chart with a mark at every change, and the same as a table.

import { byId, column, el, numberColumn, scrollable, tableOf } from "./dom.js";
import { counted, formatDates, pValue, signed, withMinus } from "./numbers.js";
import { stepChart, widthOf } from "./plots.js";
import { data, pairHeading } from "./state.js";
import { systemLink } from "./systems.js";
import { cellAt, range, visible } from "./values.js";

const comparison = significant => (significant == null ? "not compared" : significant ? "yes" : "no");

/** @param {import("./types").Board} board */
export function drawPast(board) {
  const of = data.histories[data.boards.indexOf(board)];
  byId("past").hidden = !of;
  if (!of) return;
  const rows = range(of.n), system = n => cellAt(of.of, n) ?? undefined, seconds = rows.map(n => cellAt(of.at, n));
  const dates = formatDates(seconds), first = n => n === 0 && !of.left_out;
  const name = n => visible(cellAt(of.shown, n)) + (cellAt(of.tied, n) ? ` and ${cellAt(of.tied, n)} more` : "");
  const points = rows.map(n => ({ seconds: seconds[n], score: cellAt(of.score, n), isFilled: cellAt(of.significant, n) === true,
    text: `${name(n)}, ${cellAt(of.printed, n)}` }));
  const label = `Best ${visible(board.metric)} over time, ${counted(of.n, "step")}; the table below has the same`;
  byId("past-note").textContent = `The best score in ${counted(of.states, "comparison")} of this leaderboard` +
    (of.left_out ? `; the first ${counted(of.left_out, "step")} are left out` : "") +
    `. ${board.better === "lower" ? "Lower is better. " : ""}Times are UTC.`;
  byId("past-body").replaceChildren(
    of.n > 1 ? el("div", { class: "charted" }, stepChart(points, label, widthOf(byId("past")))) : el("p", {}, `${name(0)} was the best in all of them.`),
    ...(of.n > 1 ? [el("ul", { class: "legend" }, el("li", {}, el("i", { class: "dot filled" }), " significantly better than the best before"),
      el("li", {}, el("i", { class: "dot" }), " not, or not compared"))] : []),
    scrollable("New bests", tableOf([
      column("since", n => el("time", { datetime: new Date(seconds[n] * 1000).toISOString() }, dates[n])),
      column("best", n => [systemLink(system(n), cellAt(of.shown, n)), cellAt(of.tied, n) ? ` and ${cellAt(of.tied, n)} more` : ""],
        { isHeader: true }),
      numberColumn(visible(board.metric), n => withMinus(cellAt(of.printed, n))),
      numberColumn("change", n => (n ? signed(cellAt(of.score, n) - cellAt(of.score, n - 1)) : "")),
      column("better than the best before", n => (first(n) ? "" : comparison(cellAt(of.significant, n)))),
      numberColumn(pairHeading("p_adjusted"), n => (cellAt(of.p, n) == null ? "" : pValue(cellAt(of.p, n)))),
      column("", n => of.why[n], { isShown: of.why.some(why => why) }),
    ], rows, { id: "bests" }), of.n > 12));
}
