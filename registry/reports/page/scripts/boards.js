// Which leaderboard is shown, and the columns of its table, with intervals and decisions drawn in line.

const DIMENSIONS = [["metric", "metric", "Metric"], ["set", "test_set", "Test set"], ["track", "track", "Track"],
  ["facet", "facet", "Facet"]];
// A facet is always named: its leaderboard must not be read as that of all items.
const choices = DIMENSIONS.filter(([key, of]) => new Set(data.boards.map(board => board[of])).size > 1 ||
  (key === "facet" && data.boards[0].facet != null));
const whole = { track: "no track", facet: "all items" };

// The leaderboard that fits the view best; what was chosen last counts most.
function chosenBoard(last = "") {
  const fit = board => DIMENSIONS.reduce((sum, [key, of]) =>
    sum + ((board[of] ?? "") === view[key] ? (key === last ? 10 : 1) : 0), 0);
  return data.boards.reduce((best, board) => (fit(board) > fit(best) ? board : best));
}

const labelOf = metric => data.boards.find(board => board.metric === metric).metric_label;

function selectOf(label, options, chosen, changed) {
  const id = `choose-${label.replace(/\W+/g, "-").toLowerCase()}`;
  const select = el("select", { id }, options.map(([value, text]) =>
    el("option", { value, selected: value === chosen }, visible(text))));
  select.addEventListener("change", () => changed(select.value));
  return el("span", {}, el("label", { for: id }, label), " ", select);
}

function drawControls(board, wide, changed) {
  const selects = choices.filter(([key]) => !wide || key === "track").map(([key, of, label]) => {
    const values = [...new Set(data.boards.map(other => other[of] ?? ""))];
    return selectOf(label, values.map(value => [value, key === "metric" ? labelOf(value) : value || whole[key]]), board[of] ?? "", value => {
      setView({ [key]: value });
      changed(key);
    });
  });
  if (!view.system && wideOf(board.track)) {
    selects.unshift(selectOf("View", [["", "one leaderboard"], ["wide", "side by side"]], view.show, value => {
      setView({ show: value, sort: DEFAULTS.sort });
      changed();
    }));
  }
  const focused = document.activeElement.id;
  byId("controls").replaceChildren(...selects);
  byId("controls").hidden = !selects.length;
  if (selects.some(select => select.contains(byId(focused)))) byId(focused).focus();
}

// In this order, so that a narrow screen has names, scores and the ranks that are left open first.
function columns(board) {
  const of = board.standings;
  const varied = key => Array.isArray(of[key]);
  const teams = range(board.n).some(n => at(of.team, n) !== at(of.system, n));
  const plain = key => n => at(of[key], n) ?? "–";
  return [
    { key: "rank", title: "rank", right: true, cell: plain("rank"), value: n => n },
    { key: "system", title: "system", header: true, value: n => at(of.shown, n),
      cell: n => [systemLink(numberIn(of, n), at(of.shown, n)), at(of.late, n) ? el("abbr", { title: "came late" }, "*") : null,
        ...linksOf(at(of.submission, n))] },
    { key: "score", title: board.metric_label, right: true, descending: board.better === "higher",
      cell: n => el("b", {}, printed(at(of.printed, n))), value: n => at(of.score, n) },
    { key: "range", title: board.heading, right: true, cell: plain("range"),
      value: n => at(of.range, n) === "-" ? null : parseInt(at(of.range, n), 10), hidden: board.heading === "cluster" },
    intervalColumn(board),
    { key: "first", title: "first", right: true, hidden: !varied("first"), descending: true,
      cell: n => (at(of.first, n) == null ? "–" : `${(100 * at(of.first, n)).toFixed(1)}\u00a0%`),
      value: n => at(of.first, n) },
    { key: "cluster", title: "cluster", right: true, cell: plain("in_cluster"), value: n => at(of.in_cluster, n) },
    { key: "letters", title: "alike", hidden: !board.lettered, cell: plain("letters"), value: n => at(of.letters, n) },
    { key: "wins", title: "won, open, lost", hidden: !board.n_pairs, descending: true,
      cell: n => decided(at(of.wins, n), at(board.open, n), at(of.losses, n)), value: n => at(of.wins, n) },
    { key: "team", title: "team", hidden: !teams, cell: n => named(at(of.team, n)), value: n => at(of.team, n) },
    { key: "kind", title: "kind", hidden: !varied("kind"), cell: plain("kind"), value: n => at(of.kind, n) },
    { key: "runs", title: "runs", right: true, hidden: !varied("runs") && of.runs === 1, cell: plain("runs"),
      value: n => at(of.runs, n) },
    { key: "run_deviation", title: "deviation", right: true, hidden: !varied("runs") && of.runs === 1,
      cell: n => (at(of.run_deviation, n) == null ? "–" : fixed(at(of.run_deviation, n))),
      value: n => at(of.run_deviation, n) },
  ].filter(column => !column.hidden);
}

// Where a system's score is, and the ends of its interval, where it has one.
const intervalOf = ({ standings: of }, n) =>
  ({ value: at(of.score, n), low: at(of.ci_low, n), high: at(of.ci_high, n) });

// Scores and their intervals on one scale.
function intervalColumn(board) {
  const of = board.standings, all = range(board.n).map(n => intervalOf(board, n)), scale = scaleOver(all, 168);
  const intervals = all.some(({ low, high }) => low != null || high != null);
  const label = n => (intervals ? printed(at(of.interval, n)) || "no interval" : at(of.printed, n));
  return {
    title: intervals ? `${100 * board.confidence} % interval` : "on one scale", scale,
    cell: n => (all[n].value == null ? "" : drawnOn(scale, all[n], label(n))),
  };
}

function decided(won, open, lost) {
  const all = Math.max(1, won + open + lost), width = 72;
  const parts = [["won", won], ["open", open], ["lost", lost]];
  let x = 0;
  const rects = parts.map(([name, n]) => {
    const rect = svg("rect", { class: name, x, y: 0, width: (width * n) / all, height: 8 });
    x += (width * n) / all;
    return rect;
  });
  return el("span", { class: "decided" }, svg("svg", { width, height: 8, "aria-hidden": "true" }, rects),
    el("span", { class: "counts" }, `${won} · ${open} · ${lost}`));
}

function boardListing(board) {
  const of = board.standings, shown = columns(board), scaled = shown.find(({ scale }) => scale?.rule);
  return {
    title: board.title, n: board.n, columns: shown, first: shown[0], cluster: n => at(of.in_cluster, n),
    kind: n => at(of.kind, n), texts: n => [at(of.shown, n), at(of.team, n)],
    said: [...board.sentences.map(visible), ...(range(board.n).some(n => at(of.late, n)) ? ["* came late."] : []),
      ...(scaled ? [scaled.scale.rule] : [])],
  };
}
