// @ts-check
// The page's data, the view, which the URL's fragment keeps, and what the page shows now.

/** @type {import("./types").PageData} */
export const data = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("data")).textContent ?? "");

// The view selects the leaderboard, the order of its rows and so on. The fragment leaves out defaults.
export const DEFAULTS = {
  show: "", metric: "", set: "", track: "", facet: "", sort: "rank", filter: "", p: "adjusted", item: "", a: "", b: "",
  chart: "", of: "", by: "", more: "", find: "", order: "", on: "", diff: "", system: "", hide: "", correct: "",
};

/** @type {typeof DEFAULTS} */
export let view = { ...DEFAULTS };

export function readView() {
  const given = new URLSearchParams(location.hash.slice(1));
  view = /** @type {typeof DEFAULTS} */ (
    Object.fromEntries(Object.entries(DEFAULTS).map(([key, value]) => [key, given.get(key) ?? value])));
}

/**
 * The parts of the view, after some changes, that differ from the defaults.
 * @param {Partial<typeof DEFAULTS>} changes
 * @returns {Record<string, string>}
 */
export const viewChanges = (changes = {}) => Object.fromEntries(
  Object.entries({ ...view, ...changes }).filter(([key, value]) => value !== DEFAULTS[/** @type {keyof typeof DEFAULTS} */ (key)]));

/**
 * The address of the view after some changes.
 * @param {Partial<typeof DEFAULTS>} changes
 */
export const hrefWith = changes => `#${new URLSearchParams(viewChanges(changes))}`;

/** @param {Partial<typeof DEFAULTS>} changes */
export function setView(changes) {
  Object.assign(view, changes);
  try {
    history.replaceState(null, "", hrefWith({}));
  } catch {
    // Some browsers refuse frequent calls, as fast typing makes them; the next change writes the whole view.
  }
}

/**
 * What the page shows: the leaderboard, its table, and its pairs once a chart needs them.
 * @type {{ board?: import("./types").Board, listing?: import("./types").Listing, all?: import("./types").PairIndex }}
 */
export const shown = {};

/**
 * @param {import("./types").Board} [board]
 * @param {import("./types").Listing} [listing]
 */
export function setShown(board, listing) {
  Object.assign(shown, { board, listing, all: undefined });
}

/**
 * What distinguishes leaderboards: the key in the view, the key in the data, and the label.
 * @type {["metric" | "set" | "track" | "facet", "metric" | "test_set" | "track" | "facet", string][]}
 */
export const DIMENSIONS = [["metric", "metric", "Metric"], ["set", "test_set", "Test set"], ["track", "track", "Track"],
  ["facet", "facet", "Facet"]];
// A facet is always named, because its leaderboard must not be taken for that of all items.
export const chosenDimensions = DIMENSIONS.filter(([key, field]) => new Set(data.boards.map(board => board[field])).size > 1 ||
  (key === "facet" && data.boards[0].facet != null));
/** @type {Record<string, string>} */
export const WHOLE = { track: "no track", facet: "all items" };

/**
 * The heading of a column of leaderboards, by its JSON name.
 * @param {string} name
 * @param {import("./types").Board} [board] some headings are a leaderboard's own
 */
export const boardHeading = (name, board) => board?.headings[name] ?? data.columns.board[name].heading;

/**
 * The heading of a column of pairs, by its JSON name.
 * @param {string} name
 */
export const pairHeading = name => data.columns.pairs[name].heading;

/**
 * The heading of differences, which are positive if the first system is better.
 * @param {import("./types").Board[]} boards
 */
export const differenceHeading = boards => (boards.some(board => board.better === "lower") ? "better by" : pairHeading("difference"));

/** @param {import("./types").Board} board */
export const intervalHeading = board => `${100 * board.confidence} % ${pairHeading("interval")}`;

/**
 * The part of the view that selects a leaderboard.
 * @param {import("./types").Board} board
 * @returns {Partial<typeof DEFAULTS>}
 */
export const viewOf = board => Object.fromEntries(DIMENSIONS.map(([key, field]) => [key, board[field] ?? ""]));
