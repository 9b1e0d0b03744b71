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
  const past = data.histories[data.boards.indexOf(board)];
  byId("past").hidden = !past;
  if (!past) return;
  const rows = range(past.n), system = n => cellAt(past.of, n) ?? undefined, seconds = rows.map(n => cellAt(past.at, n));
  const dates = formatDates(seconds), first = n => n === 0 && !past.left_out;
  const name = n => visible(cellAt(past.shown, n)) + (cellAt(past.tied, n) ? ` and ${cellAt(past.tied, n)} more` : "");
  const points = rows.map(n => ({ seconds: seconds[n], score: cellAt(past.score, n), isFilled: cellAt(past.significant, n) === true,
    text: `${name(n)}, ${cellAt(past.printed, n)}` }));
  const label = `Best ${visible(board.metric)} over time, ${counted(past.n, "step")}; the table below has the same`;
  byId("past-note").textContent = `The best score in ${counted(past.states, "comparison")} of this leaderboard` +
    (past.left_out ? `; the first ${counted(past.left_out, "step")} are left out` : "") +
    `. ${board.better === "lower" ? "Lower is better. " : ""}Times are UTC.`;
  byId("past-body").replaceChildren(
    past.n > 1 ? el("div", { class: "charted" }, stepChart(points, label, widthOf(byId("past")))) : el("p", {}, `${name(0)} was the best in all of them.`),
    ...(past.n > 1 ? [el("ul", { class: "legend" }, el("li", {}, el("i", { class: "dot filled" }), " significantly better than the best before"),
      el("li", {}, el("i", { class: "dot" }), " not, or not compared"))] : []),
    scrollable("New bests", tableOf([
      column("since", n => el("time", { datetime: new Date(seconds[n] * 1000).toISOString() }, dates[n])),
      column("best", n => [systemLink(system(n), cellAt(past.shown, n)), cellAt(past.tied, n) ? ` and ${cellAt(past.tied, n)} more` : ""],
        { isHeader: true }),
      numberColumn(visible(board.metric), n => withMinus(cellAt(past.printed, n))),
      numberColumn("change", n => (n ? signed(cellAt(past.score, n) - cellAt(past.score, n - 1)) : "")),
      column("better than the best before", n => (first(n) ? "" : comparison(cellAt(past.significant, n)))),
      numberColumn(pairHeading("p_adjusted"), n => (cellAt(past.p, n) == null ? "" : pValue(cellAt(past.p, n)))),
      column("", n => past.why[n], { isShown: past.why.some(why => why) }),
    ], rows, { id: "bests" }), past.n > 12));
}
