// The matrix of p-values, and what is said of a pair wherever it is pointed at.

const WINDOW = 40; // systems on a side of the matrix that are drawn at a time
const PRINTED = 12; // systems up to which p-values stand in the cells

// The pairs of a board that the page holds, by number; `of(i, j)` finds the number of a pair by its systems, in either order.
function pairsOf(board) {
  const { pairs, n } = board;
  const later = i => range(Math.min(pairs.reach ?? n, n - 1 - i)).map(j => i + 1 + j); // whom the page compares it with
  const a = pairs.a ?? range(n).flatMap(i => later(i).map(() => i));
  const b = pairs.b ?? range(n).flatMap(later);
  const numbers = new Map(a.map((i, k) => [i * n + b[k], k]));
  const of = board.standings;
  return {
    a, b, count: a.length,
    of: (i, j) => numbers.get(Math.min(i, j) * n + Math.max(i, j)),
    p: k => at(view.p === "raw" ? pairs.p_value : pairs.p_adjusted, k),
    difference: k => at(pairs.difference, k),
    significant(k) {
      return view.p === "raw" ? this.p(k) != null && this.p(k) <= board.alpha : pairs.significant[k] === "1";
    },
    sameTeam: k => at(of.team, a[k]) === at(of.team, b[k]),
  };
}

// The figures of a pair as they are written, the system at `i` first.
function pairFigures(board, all, i, j) {
  const k = all.of(i, j), { pairs } = board, turned = i > j, sign = turned ? -1 : 1;
  const difference = all.difference(k), low = at(pairs.ci_low, k), high = at(pairs.ci_high, k);
  const ends = turned ? [high, low] : [low, high];
  const turn = value => (value == null ? "–" : fixed(sign * value, board.decimals));
  return {
    difference: difference == null ? "n/a" : signed(sign * difference, board.decimals),
    interval: ends.some(end => end != null) ? `${turn(ends[0])} to ${turn(ends[1])}` : "",
    p: pValue(at(pairs.p_value, k)), adjusted: pValue(at(pairs.p_adjusted, k)), significant: all.significant(k),
    notes: [
      at(pairs.resolved, k) === false ? "Hangs on Monte-Carlo error" : null,
      all.sameTeam(k) ? "Both are of one team" : null,
      at(pairs.messages, k)?.replace(/^./u, first => first.toUpperCase()) || null,
    ].filter(note => note != null),
  };
}

// Notes of pairs, each of which may be said of many, as a list and the numbers in it of a pair's.
function notesOf(figures) {
  const said = [...new Set(figures.flatMap(of => of.notes))];
  return { said, numbers: of => of.notes.map(note => said.indexOf(note) + 1).join(", ") };
}

// What there is to say of a pair, the system at `i` first.
function pairLines(board, all, i, j) {
  const of = pairFigures(board, all, i, j), k = all.of(i, j), { pairs } = board;
  const name = n => visible(at(board.standings.shown, n));
  const counted = at(pairs.n_discordant, k);
  const unit = board.unit === "item" || board.unit === "cluster" ? board.unit : "unit";
  return [
    `${name(i)} against ${name(j)}`,
    `Difference ${of.difference}` + (of.interval && `, ${100 * board.confidence} % interval ${of.interval}`),
    `p = ${of.p}` + (board.corrected ? `, adjusted ${of.adjusted}` : "") +
      (at(pairs.method, k) ? ` (${at(pairs.method, k)})` : ""),
    counted == null ? null : `${counted} ${unit}${counted === 1 ? " differs" : "s differ"}`,
    of.significant ? "Significant" + (view.p === "raw" && board.corrected ? " without correction" : "") : "Not significant",
    ...of.notes,
  ].filter(line => line != null);
}

const pairTip = lines => lines.map((line, n) => el(n ? "div" : "strong", {}, line));

function bands(board) {
  const levels = [0.001, 0.01, board.alpha].filter(level => level <= board.alpha);
  return levels.map((level, n) => ({ level, depth: 3 - n }));
}

// A p-value in a cell, never rounded to 0 or 1.
function briefly(p) {
  if (p == null || p === 1) return p == null ? "–" : "1";
  return p < 0.001 ? "<.001" : p >= 0.9995 ? ">.999" : p.toFixed(3).slice(1);
}

function cellOf(board, all, i, j) {
  if (i === j) return el("td", { class: "same", tabindex: -1, "aria-label": "the same system" });
  const k = all.of(i, j);
  if (k === undefined) {
    const far = Math.abs(i - j) > (board.pairs.reach ?? board.n);
    return el("td", { class: far && "same", tabindex: -1, "aria-label": far ? "not on this page" : "not compared" });
  }
  const p = all.p(k), band = all.significant(k) && bands(board).find(({ level }) => p <= level);
  const better = i < j;
  const text = board.n <= PRINTED ? briefly(p) : band ? (better ? "+" : "−") : "";
  return el("td", { tabindex: -1, "data-i": i, "data-j": j, class: band && `${better ? "better" : "worse"}${band.depth}` }, text);
}

let corner = { rows: 0, columns: 0 };

function drawMatrix(board, all) {
  const last = Math.max(0, Math.ceil(board.n / WINDOW) - 1) * WINDOW;
  corner = { rows: Math.min(corner.rows, last), columns: Math.min(corner.columns, last) };
  const stretch = from => range(Math.min(WINDOW, board.n - from)).map(n => from + n);
  const places = stretch(corner.columns);
  const rank = n => at(board.standings.rank, n) ?? "–";
  const heads = places.map(n => el("th", { scope: "col" }, el("span", { "aria-hidden": "true" }, rank(n)),
    el("span", { class: "unseen" }, visible(at(board.standings.shown, n)))));
  const lines = stretch(corner.rows).map(i => el("tr", {},
    el("th", { scope: "row" }, el("span", { class: "quiet" }, `${rank(i)} `), named(at(board.standings.shown, i))),
    places.map(j => cellOf(board, all, i, j))));
  byId("matrix").classList.toggle("printed", board.n <= PRINTED);
  byId("matrix").replaceChildren(el("thead", {}, el("tr", {}, el("td", {}), heads)), el("tbody", {}, lines));
  (byId("matrix").querySelector("td[data-i]") ?? byId("matrix").querySelector("tbody td")).tabIndex = 0;
  drawWindows(board, all);
  const levels = bands(board);
  byId("legend").replaceChildren(
    ...[["better", "the row's system is better"], ["worse", "the column's is"]].map(([side, text]) => el("li", {},
      levels.map(({ depth }) => el("i", { class: side + depth })), ` ${text}`)),
    el("li", {}, `from strong to faint: p ≤ ${levels.map(({ level }) => level).join(", ")}`));
}

function drawWindows(board, all) {
  if (board.n <= WINDOW) return byId("windows").replaceChildren();
  const options = range(Math.ceil(board.n / WINDOW)).map(w =>
    [String(w * WINDOW), `${w * WINDOW + 1} to ${Math.min(board.n, (w + 1) * WINDOW)}`]);
  const sides = board.pairs.reach == null ? [["Places in rows", "rows"], ["Places in columns", "columns"]]
    : [["Places", "rows", "columns"]]; // pairs of neighbours lie along the diagonal
  byId("windows").replaceChildren(...sides.map(([title, ...moved], n) =>
    selectOf(title, options, String(corner[moved[0]]), value => {
      for (const side of moved) corner[side] = Number(value);
      drawMatrix(board, all);
      byId("windows").querySelectorAll("select")[n].focus();
    })));
}

// Keys and pointers on the matrix; `current` gives the board and its pairs.
function listenToMatrix(current) {
  const matrix = byId("matrix");
  const show = cell => {
    const { board, all } = current();
    if (cell?.dataset.i) showTip(pairTip(pairLines(board, all, +cell.dataset.i, +cell.dataset.j)), cell, cell);
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
