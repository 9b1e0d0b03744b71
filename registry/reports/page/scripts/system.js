// @ts-check
// The page of one system: its pairs, its scores on all leaderboards, its runs, items, confusions and versions.

import { confusionOf } from "./confusions.js";
import { byId, column, el, groupedTable, nameElement, numberColumn, scrollable, svg, tableOf } from "./dom.js";
import { counted, fixed, formatDates, withMinus } from "./numbers.js";
import { boardPairs, indexPairs, loadPairs, numberNotes, pairFigures, withPairsOf } from "./pairs.js";
import { stepChart, widthOf } from "./plots.js";
import {
  boardHeading, chosenDimensions, data, differenceHeading, hrefWith, intervalHeading, pairHeading, viewOf, WHOLE,
} from "./state.js";
import { FACTS, factsOf, nameOf, numberOf, placeOn, systemLink } from "./systems.js";
import { cellAt, range, visible } from "./values.js";

export const pageTitle = document.title;
const LONG = 15; // a table of more rows scrolls in a region of its own
/** @type {Record<string, string>} */
const KINDS = { primary: "Primary submission", contrastive: "Contrastive submission", baseline: "Baseline" };

/**
 * @param {import("./types").Board} board
 * @param {number} n the system's number on the page
 */
export function drawSystem(board, n) {
  const place = placeOn(board, n), name = nameOf(n);
  document.title = `${visible(name)}: ${pageTitle}`;
  byId("system-heading").replaceChildren(nameElement(name));
  byId("system-back").setAttribute("href", hrefWith({ system: "" }));
  const part = (id, title, content) => (content == null ? null
    : el("section", { id, "aria-labelledby": `${id}-heading` }, el("h3", { id: `${id}-heading` }, title), content));
  byId("system-body").replaceChildren(...[
    ...[describeStanding(board, n, place)].flat(), declaredFacts(board, place),
    part("system-pairs", "Against the others", place === undefined || board.n < 2 ? null : opponentsOf(board, n, place)),
    part("system-strengths", "On every leaderboard", strengthsOf(n)),
    part("system-runs", "Runs", runsOf(board, n)),
    part("system-items", "Items on which it differs from the others", distinctiveItemsOf(board, n)),
    part("system-confusions", "Confusions", confusionOf(board, n)),
    part("system-versions", "Versions", versionsOf(board, n)),
  ].filter(node => node != null));
}

function describeStanding(board, n, place) {
  const standings = board.standings, team = cellAt(data.details.team, n);
  const whose = team === cellAt(data.details.system, n) ? "" : ` of team ${visible(team)}`;
  if (place === undefined) return el("p", {}, `A system${whose}. It is not on the chosen leaderboard.`);
  const rank = cellAt(standings.rank, place), interval = cellAt(standings.interval, place);
  const ranked = range(board.n).filter(other => cellAt(standings.rank, other) != null).length;
  return [el("p", { class: "quiet" }, visible(board.title)),
    el("p", {}, `${KINDS[cellAt(standings.kind, place)]}${whose}${cellAt(standings.late, place) ? ", came late" : ""}. Score `,
      el("b", {}, withMinus(cellAt(standings.printed, place))), interval ? ` (${intervalHeading(board)} ${withMinus(interval)})` : "",
      rank == null ? ", without a rank." : `, rank ${rank} of ${ranked}` +
        (cellAt(standings.rank_low, place) === cellAt(standings.rank_high, place) ? "." : `; the significant differences do not rule out ranks ${cellAt(standings.rank_low, place)} to ${cellAt(standings.rank_high, place)}.`))];
}

// Facts that the submission declares.
function declaredFacts(board, place) {
  const facts = place === undefined ? {} : factsOf(cellAt(board.standings.submission, place));
  const declared = FACTS.filter(([key]) => facts[key] != null);
  return declared.length ? el("dl", { class: "facts" }, declared.flatMap(([key, title, shown]) =>
    [el("dt", {}, title), el("dd", {}, el("bdi", {}, shown(facts[key])))])) : null;
}

// Its pairs in three groups; those of a large leaderboard come from their file if it exists.
function opponentsOf(board, n, place) {
  const box = el("div", { "aria-live": "polite" });
  const draw = (loaded, against) => box.replaceChildren(...opponentTable(loaded, n, place, against));
  const all = boardPairs(board);
  const drawPagePairs = () => (all ? draw(board, range(board.n).filter(other => all.find(place, other) !== undefined)) : null);
  if (!board.files) drawPagePairs();
  else {
    loadPairs(board.files, place).then(columns => {
      if (!columns) return drawPagePairs();
      const loaded = withPairsOf(board, place, columns);
      draw(loaded.board, loaded.against);
    });
  }
  return box;
}

function opponentTable(board, n, place, against) {
  const all = indexPairs(board), rows = against.map(other => ({ other, ...pairFigures(board, all, place, other) }));
  const notes = numberNotes(rows);
  /** @type {[string, any[]][]} */
  const groups = [
    ["Better than", rows.filter(({ other, significant }) => significant && place < other)],
    ["Not significantly different from", rows.filter(({ significant }) => !significant)],
    ["Worse than", rows.filter(({ other, significant }) => significant && other < place)],
  ];
  const name = ({ other }) => nameOf(numberOf(board.standings, other));
  const missing = board.n - 1 - rows.length;
  return [
    el("p", {}, `Significantly better than ${groups[0][1].length}, significantly worse than ${groups[2][1].length}, ` +
      `and not significantly different from ${counted(groups[1][1].length, "system")}${missing ? `; ${counted(missing, "pair is", "pairs are")} not on this page` : ""}. ` +
      `Differences above 0 are in favour of ${visible(nameOf(n))}.`),
    scrollable("Pairs of this system", groupedTable([
      numberColumn(boardHeading("rank"), ({ other }) => cellAt(board.standings.rank, other) ?? "–"),
      column(boardHeading("system"), ({ other }) => systemLink(numberOf(board.standings, other), cellAt(board.standings.shown, other)),
        { isHeader: true }),
      numberColumn(differenceHeading([board]), ({ difference }) => difference),
      numberColumn(intervalHeading(board), ({ interval }) => interval, { isShown: rows.some(({ interval }) => interval) }),
      numberColumn(pairHeading("p_value"), ({ p }) => p),
      numberColumn(pairHeading("p_adjusted"), ({ adjusted }) => adjusted, { isShown: board.corrected }),
      column(pairHeading("messages"), notes.numbers, { isShown: notes.list.length > 0 }),
      column("", row => el("a", { class: "unprinted", href: hrefWith({ system: "", a: nameOf(n), b: name(row) }),
        "aria-label": `side by side with ${visible(name(row))}` }, "side by side")),
    ], groups.filter(([, group]) => group.length).map(([title, group]) => [`${title} ${group.length}`, group])), rows.length > LONG),
    notes.list.length ? el("ol", { class: "quiet" }, notes.list.map(note => el("li", {}, visible(note)))) : null,
  ].filter(node => node != null);
}

// Its score on every leaderboard of the page, next to the median and the best score.
function strengthsOf(n) {
  const boards = data.boards.filter(board => placeOn(board, n) !== undefined);
  if (boards.length < 2) return null;
  const rows = boards.map(board => {
    const worse = board.better === "higher" ? (a, b) => a - b : (a, b) => b - a, score = cellAt(board.standings.score, placeOn(board, n));
    const scores = range(board.n).map(place => cellAt(board.standings.score, place)).filter(other => other != null).sort(worse);
    const quartile = k => {
      const place = (k * (scores.length - 1)) / 4;
      return (scores[Math.floor(place)] + scores[Math.ceil(place)]) / 2;
    };
    const near = Math.abs(quartile(3) - quartile(1)) * 1.5; // scores further below the middle half do not set the scale (Tukey 1977)
    const low = [score, ...scores.filter(other => worse(other, quartile(1)) >= -near)].sort(worse)[0];
    return { board, place: placeOn(board, n), score, low, median: scores.length ? quartile(2) : null, best: scores[scores.length - 1],
      behind: scores.filter(other => worse(other, score) < 0).length };
  });
  const cell = (key, board) => (board[key] == null ? WHOLE[key] : visible(board[key]));
  const places = chosenDimensions.filter(([, key]) => key !== "metric")
    .map(([, key, title]) => column(title.toLowerCase(), ({ board }) => cell(key, board)));
  return scrollable("Scores on every leaderboard", tableOf([
    ...places,
    column(boardHeading("metric"), ({ board }) => el("a", { href: hrefWith({ system: "", ...viewOf(board) }) }, visible(board.metric)),
      { isHeader: true }),
    numberColumn(boardHeading("score"), ({ board, place }) => el("b", {}, withMinus(cellAt(board.standings.printed, place)))),
    numberColumn(boardHeading("rank"), ({ board, place }) => cellAt(board.standings.rank, place) ?? "–"),
    numberColumn("ahead of", ({ board, behind, score }) => (score == null ? "–" : `${behind} of ${board.n - 1}`)),
    numberColumn("median", ({ board, median }) => fixed(median, board.decimals)),
    numberColumn("best", ({ board, best }) => fixed(best, board.decimals)),
    column("low, median, best", drawStrip),
  ], rows, { id: "strengths" }), rows.length > LONG);
}

// A score between a low and the best one, with a mark at the median; better is to the right.
function drawStrip({ score, low, best, median }) {
  if (score == null) return "";
  const width = 168, x = value => 5 + (width - 10) * (best === low ? 0.5 : (value - low) / (best - low));
  return svg("svg", { class: "interval", width, height: 16, viewBox: `0 0 ${width} 16`, "aria-hidden": "true" },
    svg("line", { class: "rail", x1: 5, x2: width - 5, y1: 8, y2: 8 }),
    svg("line", { class: "median", x1: x(median), x2: x(median), y1: 2, y2: 14 }),
    svg("circle", { cx: x(score), cy: 8, r: 3.5 }));
}

function runsOf(board, n) {
  const { runs } = data.details;
  const rows = range(runs.n).filter(k => cellAt(runs.of, k) === n && cellAt(runs.test_set, k) === board.test_set);
  if (!rows.length) return null;
  const names = runs.names[rows[0]], mean = k => runs.scores[k].reduce((sum, score) => sum + score, 0) / runs.scores[k].length;
  const deviation = k => Math.sqrt(runs.scores[k].reduce((sum, score) => sum + (score - mean(k)) ** 2, 0) / (runs.scores[k].length - 1));
  const shown = (k, score) => fixed(score, data.boards.find(other => other.metric === cellAt(runs.metric, k))?.decimals);
  const known = k => runs.scores[k].every(score => score != null);
  const lines = [...names.map((name, run) => [nameElement(name), k => shown(k, runs.scores[k][run])]),
    ["mean", k => (known(k) ? shown(k, mean(k)) : "–")], [boardHeading("run_sd"), k => (known(k) ? shown(k, deviation(k)) : "–")]];
  return [el("p", { class: "quiet" }, `${counted(names.length, "run")} on all items of ${visible(board.test_set)}.`),
    scrollable("Scores of its runs", tableOf([column("run", ([name]) => name, { isHeader: true }),
      ...rows.map(k => numberColumn(visible(cellAt(runs.metric, k)), ([, cell]) => cell(k)))], lines, { id: "runs" }), lines.length > LONG)];
}

// The items on which it is furthest above the others and furthest below.
function distinctiveItemsOf(board, n) {
  const distinctive = data.details.distinctive;
  const k = range(distinctive.n).find(row => cellAt(distinctive.of, row) === n && cellAt(distinctive.test_set, row) === board.test_set &&
    (cellAt(distinctive.track, row) ?? "") === (board.track ?? ""));
  if (k === undefined) return null;
  const isBinary = cellAt(distinctive.right_or_wrong, k), metric = visible(data.boards[0].metric);
  const shownHere = new Set((data.items[board.test_set]?.items ?? []).map(({ item }) => item));
  const link = item => (shownHere.has(item)
    ? el("a", { href: hrefWith({ system: "", facet: "", item, a: nameOf(n), b: "" }) }, nameElement(item))
    : nameElement(item));
  const table = (title, above, words) => {
    const rows = distinctive.differences[k].filter(row => Boolean(row[3]) === above);
    return rows.length ? [el("h4", {}, title), scrollable(title, tableOf([
      column("item", ([item]) => link(distinctive.items[item]), { isHeader: true }),
      numberColumn(metric, ([, score]) => fixed(score)), numberColumn("the others' mean", ([, , others]) => fixed(others)),
      column("", ([, , , , alone]) => (alone ? words : ""), { isShown: rows.some(row => row[4]) })], rows))] : [];
  };
  const words = isBinary ? ["alone is correct", "alone is incorrect"] : ["is better than all others", "is worse than all others"];
  return [el("p", {}, `It ${words[0]} on ${counted(cellAt(distinctive.best_alone, k), "item")}, and ${words[1]} on ${cellAt(distinctive.worst_alone, k)}, of ` +
      `${visible(board.test_set)}. Listed are those on which its score is furthest from the mean of the others.`),
    el("div", { class: "halves" }, el("div", {}, table("Above the others", true, words[0])), el("div", {}, table("Below the others", false, words[1])))];
}

// Its versions, the last one first.
function versionsOf(board, n) {
  const versions = data.details.versions;
  const rows = range(versions.n).filter(k => cellAt(versions.of, k) === n && cellAt(versions.test_set, k) === board.test_set);
  if (!rows.length) return null;
  const dates = formatDates(rows.map(k => cellAt(versions.at, k)));
  const scored = rows.filter(k => cellAt(versions.score, k) != null);
  const points = scored.map(k => ({ seconds: cellAt(versions.at, k), score: cellAt(versions.score, k), isFilled: true, text: `version ${visible(cellAt(versions.version, k))}, ${fixed(cellAt(versions.score, k), data.boards[0].decimals)}` }));
  const label = "Scores of its versions over time; the table below has the same";
  return [points.length > 1 ? el("div", { class: "charted" }, stepChart(points, label, widthOf(byId("system")))) : null,
    scrollable("Versions, the last one first", tableOf([
      column("version", k => nameElement(cellAt(versions.version, k)), { isHeader: true }),
      column("submitted (UTC)", k => dates[rows.indexOf(k)]),
      numberColumn(`${visible(data.boards[0].metric)} by the current gold`, k => fixed(cellAt(versions.score, k), data.boards[0].decimals)),
      column("", k => (cellAt(versions.late, k) ? "came late" : ""), { isShown: rows.some(k => cellAt(versions.late, k)) }),
    ], [...rows].reverse(), { id: "versions" }),
    rows.length > LONG),
    scored.length < rows.length ? el("p", { class: "quiet" }, "n/a: not scored by the current gold, or not public while it was the newest version.") : null];
}
