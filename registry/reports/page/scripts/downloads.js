// What is shown as files: the rows of `registry board`, or side by side those of `registry board --wide`.

function boardSheet(board) {
  const value = (key, n) => (key in board.standings ? at(board.standings[key], n) : board[key] ?? null);
  return {
    name: [board.test_set, board.track, board.facet, board.metric], keys: data.keys, latex: board.latex,
    rows: range(board.n).map(n => data.keys.map(key => value(key, n))),
  };
}

function wideSheet(wide) {
  const fixedKeys = ["system", "team", "kind"];
  const parts = column => wide.parts.map(key => [`${column.name}${key === "score" ? "" : ` ${key}`}`, key]);
  const cellsOf = (column, n) => parts(column).map(([, key]) => {
    const place = at(column.at, n);
    return place == null ? null : at(figuresOf(column)[key], place);
  });
  return {
    name: [wide.track, "wide"], latex: wide.latex,
    keys: ["task", "track", ...fixedKeys, ...wide.columns.flatMap(column => parts(column).map(([name]) => name))],
    rows: range(wide.n).map(n => [data.task.id, wide.track, ...fixedKeys.map(key => at(wide.rows[key], n)),
      ...wide.columns.flatMap(column => cellsOf(column, n))]),
  };
}

// An apostrophe before a text that a spreadsheet would compute as a formula, as in registry/rendering/rows.py.
const guardFormula = text => (/^"*[=+\-@\t\r]/.test(text) && !/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text)
  ? `'${text}` : text);

function csvCell(value) {
  if (Array.isArray(value)) return csvCell(value.join("; "));
  const text = value == null ? "" : typeof value === "string" ? guardFormula(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const FILES = [
  ["CSV", "csv", "text/csv", ({ keys, rows }) => [keys, ...rows].map(row => `${row.map(csvCell).join(",")}\n`).join("")],
  ["JSON", "json", "application/json", ({ keys, rows }) =>
    `${JSON.stringify(rows.map(row => Object.fromEntries(row.map((value, n) => [keys[n], value]))), null, 2)}\n`],
  ["LaTeX", "tex", "application/x-tex", ({ latex }) => latex],
];

// Buttons that save a sheet, which is made only when it is asked for. Nobody prints a table of thousands of systems.
function drawDownloads(sheetOf, { latex }) {
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
