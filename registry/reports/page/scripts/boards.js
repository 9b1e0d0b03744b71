// @ts-check
// Which leaderboard is shown, and the columns of its table: one leaderboard, or those of a track side by side.

import { breakable, byId, el, nameElement, selectOf, svg } from "./dom.js";
import { counted, fixed, percent, withMinus } from "./numbers.js";
import { drawInterval, scaleOver } from "./plots.js";
import { boardHeading, chosenDimensions, data, DEFAULTS, DIMENSIONS, setView, view, viewOf, WHOLE } from "./state.js";
import { linksOf, numberOf, systemLink } from "./systems.js";
import { shownColumns } from "./listing.js";
import { cellAt, range, visible } from "./values.js";

/**
 * The leaderboard that fits the view best.
 * @param {string} [last] the part of the view that was changed last, which counts most
 */
export function findBoard(last = "") {
  const fit = board => DIMENSIONS.reduce((sum, [key, field]) =>
    sum + ((board[field] ?? "") === view[key] ? (key === last ? 10 : 1) : 0), 0);
  return data.boards.reduce((best, board) => (fit(board) > fit(best) ? board : best));
}

/** @param {string} metric */
const labelOf = metric => data.boards.find(board => board.metric === metric)?.metric_label ?? metric;

/**
 * @param {import("./types").Board} board
 * @param {import("./types").Wide | undefined} wide
 * @param {(last?: string) => void} redraw
 */
export function drawControls(board, wide, redraw) {
  const selects = chosenDimensions.filter(([key]) => !wide || key === "track").map(([key, field, label]) => {
    const values = [...new Set(data.boards.map(other => other[field] ?? ""))];
    return selectOf(label, values.map(value => [value, key === "metric" ? labelOf(value) : value || WHOLE[key]]), board[field] ?? "", value => {
      setView({ [key]: value });
      redraw(key);
    });
  });
  if (!view.system && wideOf(board.track)) {
    selects.unshift(selectOf("View", [["", "one leaderboard"], ["wide", "side by side"]], view.show, value => {
      setView({ show: value, sort: DEFAULTS.sort });
      redraw();
    }));
  }
  const focused = document.activeElement?.id ?? "";
  const holder = byId(view.system ? "system-controls" : "board-controls");
  if (byId("controls").parentElement !== holder) holder.prepend(byId("controls"));
  byId("controls").replaceChildren(...selects);
  byId("controls").hidden = !selects.length;
  if (selects.some(select => select.contains(byId(focused)))) byId(focused).focus();
}

/**
 * The columns of a leaderboard's table: Python chooses and orders them, and gives their headings.
 * @param {import("./types").Board} board
 * @returns {import("./types").ListingColumn[]}
 */
function boardColumns(board) {
  const standings = board.standings;
  const plain = key => ({ cell: n => cellAt(standings[key], n) ?? "–",
    value: n => cellAt(standings[key], n) });
  const intervals = intervalCells(board);
  /** @type {Record<string, Omit<import("./types").ListingColumn, "name" | "heading">>} */
  const cells = {
    rank: { cell: plain("rank").cell, value: n => n },
    system: { isHeader: true, value: n => cellAt(standings.shown, n), cell: n => [
      systemLink(numberOf(standings, n), cellAt(standings.shown, n)), cellAt(standings.late, n) ? el("abbr", { title: "came late" }, "*") : null,
      ...linksOf(cellAt(standings.submission, n))] },
    score: { descending: board.better === "higher", value: n => cellAt(standings.score, n),
      cell: n => el("b", {}, withMinus(cellAt(standings.printed, n))) },
    range: { cell: plain("range").cell,
      value: n => (cellAt(standings.range, n) === "-" ? null : parseInt(cellAt(standings.range, n), 10)) },
    interval: intervals,
    share_best: { descending: true, value: n => cellAt(standings.share_best, n),
      cell: n => (cellAt(standings.share_best, n) == null ? "–" : percent(cellAt(standings.share_best, n))) },
    cluster: plain("in_cluster"),
    wins: { descending: true, value: n => cellAt(standings.wins, n),
      cell: n => drawDecisions(cellAt(standings.wins, n), cellAt(board.undecided, n), cellAt(standings.losses, n)) },
    team: { cell: n => nameElement(cellAt(standings.team, n)), value: n => cellAt(standings.team, n) },
    run_sd: { value: n => cellAt(standings.run_sd, n),
      cell: n => (cellAt(standings.run_sd, n) == null ? "–" : fixed(cellAt(standings.run_sd, n))) },
  };
  return board.columns.map(name => ({ name, heading: boardHeading(name, board), right: data.columns.board[name].right,
    about: data.columns.board[name].about, ...(cells[name] ?? plain(name)) }));
}

/**
 * A system's score with the ends of its interval.
 * @param {import("./types").Board} board
 * @param {number} n
 * @returns {import("./types").Interval}
 */
export const intervalOf = ({ standings }, n) =>
  ({ value: cellAt(standings.score, n), low: cellAt(standings.ci_low, n), high: cellAt(standings.ci_high, n) });

/**
 * Scores and their intervals, drawn on one scale.
 * @param {import("./types").Board} board
 */
function intervalCells(board) {
  const standings = board.standings, all = range(board.n).map(n => intervalOf(board, n));
  const scale = scaleOver(all, innerWidth < 640 ? 72 : 168);
  const hasIntervals = all.some(({ low, high }) => low != null || high != null);
  const label = n => (hasIntervals ? withMinus(cellAt(standings.interval, n)) || "no interval" : cellAt(standings.printed, n));
  return { scale,
    cell: n => (all[n].value == null ? "" : drawInterval(scale, all[n], label(n))) };
}

/**
 * @param {number} wins
 * @param {number} undecided
 * @param {number} losses
 */
function drawDecisions(wins, undecided, losses) {
  const all = Math.max(1, wins + undecided + losses), width = 72;
  let x = 0;
  const bars = [["wins", wins], ["undecided", undecided], ["losses", losses]].map(([name, n]) => {
    const bar = svg("rect", { class: name, x, y: 0, width: (width * Number(n)) / all, height: 8 });
    x += (width * Number(n)) / all;
    return bar;
  });
  return el("span", { class: "decided" }, svg("svg", { width, height: 8, "aria-hidden": "true" }, bars),
    el("span", { class: "counts" }, `${wins} · ${undecided} · ${losses}`));
}

/**
 * A title without the name of the task, which the page has as its own title.
 * @param {string} title
 */
const shortTitle = title => (title.startsWith(`${data.task.id}/`) ? title.slice(data.task.id.length + 1) : title);

/**
 * @param {import("./types").Board} board
 * @returns {import("./types").Listing}
 */
export function boardListing(board) {
  const standings = board.standings, columns = boardColumns(board), rule = columns.find(({ scale }) => scale?.rule)?.scale?.rule;
  return {
    title: `${shortTitle(board.title)}, ${counted(board.n, "system")}, ${counted(board.n_items, "item")}`, n: board.n,
    allColumns: columns, columns: shownColumns(columns), first: columns[0], cluster: n => cellAt(standings.in_cluster, n),
    kind: n => cellAt(standings.kind, n), texts: n => [cellAt(standings.shown, n), cellAt(standings.team, n)],
    sentences: [...board.sentences.map(visible), ...(range(board.n).some(n => cellAt(standings.late, n)) ? ["* came late."] : []),
      ...(rule ? [rule] : [])],
  };
}

/**
 * The leaderboards of a track side by side, if it has several.
 * @param {string | null} track
 */
export const wideOf = track => data.wide.find(wide => (wide.track ?? "") === (track ?? ""));

/**
 * The figures of a column, which is a leaderboard or a macro-average.
 * @param {import("./types").WideColumn} column
 * @returns {Record<string, import("./types").Column<any>>}
 */
export const figuresOf = column => (column.board == null ? column.figures ?? {} : data.boards[column.board].standings);

/**
 * The first leaderboard among the columns of a wide one.
 * @param {import("./types").Wide} wide
 */
export const firstBoardOf = wide => data.boards[wide.columns.find(({ board }) => board != null)?.board ?? 0];

/**
 * @param {import("./types").Wide} wide
 * @param {import("./types").WideColumn} column
 * @returns {import("./types").ListingColumn}
 */
function wideColumn(wide, column) {
  const figures = figuresOf(column);
  const place = n => cellAt(column.at, n);
  const value = (key, n) => (place(n) == null ? null : cellAt(figures[key], place(n)));
  const note = n => {
    if (column.board == null) return value("beside", n);
    return value("rank", n) == null ? "" : `(${value("range", n)})`;
  };
  const widthOf = text => [...text].reduce((sum, c) => sum + (/\d/.test(c) ? 1 : 0.65), 0); // in digits
  const longest = Math.max(...range(wide.n).map(n => widthOf(note(n) ?? ""))); // so that scores are aligned
  const noteElement = n => {
    const node = el("span", { class: "beside" }, note(n));
    node.style.minWidth = `${longest}ch`;
    return node;
  };
  return {
    name: `by ${column.name}`, heading: column.title, right: true, wraps: column.board == null,
    descending: column.better === "higher", value: n => value("score", n),
    cell: n => (place(n) == null ? "–" : [el(value("rank", n) === 1 ? "b" : "span", {}, withMinus(value("printed", n))),
      ...(longest ? [" ", noteElement(n)] : [])]),
  };
}

/**
 * How a column's pairs are tested, with a link to its leaderboard.
 * @param {import("./types").WideColumn} column
 */
function familyOf(column) {
  if (column.board == null) return visible(`${column.title}: ${column.basis}`);
  const board = data.boards[column.board];
  const selects = Object.entries(viewOf(board)).filter(([, value]) => value !== "");
  return [el("a", { href: `#${new URLSearchParams(selects)}` }, nameElement(column.title)), `: ${visible(column.basis)}; `,
    el("code", { class: "signature" }, breakable(board.signature))];
}

/**
 * @param {import("./types").Wide} wide
 * @returns {import("./types").Listing}
 */
export function wideListing(wide) {
  const rows = wide.rows, columns = wide.columns.map(column => wideColumn(wide, column));
  const hasTeams = range(wide.n).some(n => cellAt(rows.team, n) !== cellAt(rows.system, n));
  const allColumns = [
    { name: "system", heading: boardHeading("system"), isHeader: true, value: n => cellAt(rows.shown, n), cell: n => [
      systemLink(numberOf(rows, n), cellAt(rows.shown, n)), cellAt(rows.late, n) ? el("abbr", { title: "came late" }, "*") : null] },
    ...(hasTeams ? [{ name: "team", heading: boardHeading("team"), value: n => cellAt(rows.team, n),
      cell: n => nameElement(cellAt(rows.team, n)) }] : []),
    ...(Array.isArray(rows.kind) ? [{ name: "kind", heading: boardHeading("kind"), value: n => cellAt(rows.kind, n),
      cell: n => cellAt(rows.kind, n) ?? "–" }] : []),
    ...columns,
  ];
  return {
    title: `${shortTitle(wide.title)}, ${counted(wide.n, "system")}`, n: wide.n, first: columns[0], allColumns,
    columns: shownColumns(allColumns), kind: n => cellAt(rows.kind, n), texts: n => [cellAt(rows.shown, n), cellAt(rows.team, n)],
    sentences: [visible(wide.notes[0]), ...wide.columns.map(familyOf), ...wide.notes.slice(1).map(visible)],
  };
}
