// @ts-check
// What the page shows as files: the rows of `registry board`, or of `registry board --wide`.

import { figuresOf } from "./boards.js";
import { byId, el } from "./dom.js";
import { data } from "./state.js";
import { cellAt, csvCell, range } from "./values.js";

/** @param {import("./types").Board} board */
export function boardSheet(board) {
  const shared = /** @type {Record<string, any>} */ (/** @type {unknown} */ (board));
  const value = (key, n) => (key in board.standings ? cellAt(board.standings[key], n) : shared[key] ?? null);
  return {
    name: [board.test_set, board.track, board.facet, board.metric], keys: data.keys, latex: board.latex,
    rows: range(board.n).map(n => data.keys.map(key => value(key, n))),
  };
}

/** @param {import("./types").Wide} wide */
export function wideSheet(wide) {
  const fixedKeys = ["system", "team", "kind"];
  const parts = column => wide.parts.map(key => [`${column.name}${key === "score" ? "" : ` ${key}`}`, key]);
  const cellsOf = (column, n) => parts(column).map(([, key]) => {
    const place = cellAt(column.at, n);
    return place == null ? null : cellAt(figuresOf(column)[key], place);
  });
  return {
    name: [wide.track, "wide"], latex: wide.latex,
    keys: ["task", "track", ...fixedKeys, ...wide.columns.flatMap(column => parts(column).map(([name]) => name))],
    rows: range(wide.n).map(n => [data.task.id, wide.track, ...fixedKeys.map(key => cellAt(wide.rows[key], n)),
      ...wide.columns.flatMap(column => cellsOf(column, n))]),
  };
}

/** @type {[string, string, string, (sheet: any) => string][]} */
const FILES = [
  ["CSV", "csv", "text/csv", ({ keys, rows }) => [keys, ...rows].map(row => `${row.map(csvCell).join(",")}\n`).join("")],
  ["JSON", "json", "application/json", ({ keys, rows }) =>
    `${JSON.stringify(rows.map(row => Object.fromEntries(row.map((value, n) => [keys[n], value]))), null, 2)}\n`],
  ["LaTeX", "tex", "application/x-tex", ({ latex }) => latex],
];

/**
 * Draws buttons that make and save a sheet; none for LaTeX if the leaderboard has too many systems to print.
 * @param {() => any} sheetOf
 * @param {{ latex: string | null }} board
 */
export function drawDownloads(sheetOf, { latex }) {
  byId("downloads").replaceChildren(...FILES.filter(([, ending]) => latex || ending !== "tex").map(([title, ending, type, write]) => {
    const button = el("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      const sheet = sheetOf();
      const name = [data.task.id, ...sheet.name].filter(Boolean).join(".").replace(/[^\w.-]+/g, "_");
      const url = URL.createObjectURL(new Blob([write(sheet)], { type }));
      el("a", { href: url, download: `${name}.${ending}` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
    return button;
  }));
}
