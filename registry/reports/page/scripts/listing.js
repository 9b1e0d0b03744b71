// @ts-check
// A table of systems, which is sorted by its column headers and narrowed by a filter.

import { byId, el } from "./dom.js";
import { axisOf } from "./plots.js";
import { setView, view } from "./state.js";
import { range, visible } from "./values.js";

export const FIRST_ROWS = 50; // of the first paint; the others follow

/** @typedef {import("./types").Listing} Listing */
/** @typedef {import("./types").ListingColumn} ListingColumn */

/**
 * Rules separate clusters too, so narrow screens hide their column.
 * @param {ListingColumn} column
 */
const classOf = column => [column.right && "right", column.wraps && "wraps", column.name === "cluster" && "spare"]
  .filter(Boolean).join(" ") || null;

/** @type {HTMLTableRowElement[]} */
let rows = []; // by number, as far as they are made

/**
 * @param {Listing} listing
 * @param {number} n
 */
const rowOf = (listing, n) => (rows[n] ??= el("tr", {}, listing.columns.map(column => column.isHeader
  ? el("th", { scope: "row" }, column.cell(n)) : el("td", { class: classOf(column) }, column.cell(n)))));

/**
 * The column that the view sorts by, and the direction; by default those of the first column.
 * @param {Listing} listing
 */
function sortingOf(listing) {
  const descending = view.sort.startsWith("-"), name = descending ? view.sort.slice(1) : view.sort;
  const column = listing.columns.find(one => one.value && one.name === name);
  return column ? { column, descending } : { column: listing.first, descending: Boolean(listing.first.descending) };
}

/**
 * @param {Listing} listing
 * @param {ListingColumn} column
 */
function headOf(listing, column) {
  if (column.scale) return el("th", { scope: "col", title: column.scale.rule }, column.heading, axisOf(column.scale));
  const button = el("button", { type: "button" }, visible(column.heading));
  button.addEventListener("click", () => {
    const natural = Boolean(column.descending), now = sortingOf(listing);
    const descending = now.column === column && now.descending === natural ? !natural : natural;
    setView({ sort: `${descending ? "-" : ""}${column.name}` });
    arrangeRows(listing);
  });
  return el("th", { scope: "col", class: classOf(column), "data-key": column.name, title: column.about || null }, button);
}

// The names of hidden columns, as the view has them.
const hiddenColumns = () => view.hide.split(",").filter(Boolean).map(decodeURIComponent);

/**
 * The columns without those that the reader hides; names of systems always stay.
 * @param {ListingColumn[]} columns
 */
export function shownColumns(columns) {
  const hidden = new Set(hiddenColumns());
  return columns.filter(({ name, isHeader }) => isHeader || !hidden.has(name));
}

/**
 * Draws a check box for each column that can be hidden.
 * @param {Listing} listing
 * @param {() => void} redraw
 */
export function drawColumnChoice(listing, redraw) {
  const hidden = new Set(hiddenColumns()), focused = document.activeElement?.id;
  byId("columns").replaceChildren(el("legend", {}, "Columns"), ...listing.allColumns.filter(({ isHeader }) => !isHeader).map(({ name, heading }, n) => {
    const box = el("input", { type: "checkbox", id: `column-${n}`, checked: !hidden.has(name) });
    box.addEventListener("change", () => {
      if (box.checked) hidden.delete(name);
      else hidden.add(name);
      setView({ hide: [...hidden].map(encodeURIComponent).join(",") });
      redraw();
    });
    return el("label", { for: `column-${n}` }, box, " ", visible(heading));
  }));
  if (focused?.startsWith("column-")) byId(focused)?.focus();
}

/**
 * Draws the table with its first rows; `arrangeRows` adds the others.
 * @param {Listing} listing
 */
export function drawTable(listing) {
  byId("what").textContent = visible(listing.title);
  rows = [];
  const caption = el("caption", { class: "unseen" }, `${visible(listing.title)}, sortable by its column headers`);
  byId("standings").replaceChildren(caption, el("thead", {}, el("tr", {}, listing.columns.map(column =>
    headOf(listing, column)))), el("tbody"));
  arrangeRows(listing, FIRST_ROWS);
  filterRows(listing);
  byId("sentences").replaceChildren(...listing.sentences.map(sentence => el("li", {}, sentence)));
}

/** @param {Listing} listing */
export function orderOf(listing) {
  const { column, descending } = sortingOf(listing);
  const values = range(listing.n).map(n => column.value?.(n)), sign = descending ? -1 : 1;
  return range(listing.n).sort((m, n) => {
    const a = values[m], b = values[n];
    if (a == null || b == null) return Number(a == null) - Number(b == null) || m - n; // undefined values come last in both directions
    return sign * (typeof a === "string" ? a.localeCompare(b) : a - b) || m - n;
  });
}

/**
 * Puts rows in the order of the view: all, or at most so many of those that match the filter.
 * @param {Listing} listing
 * @param {number} [most]
 */
export function arrangeRows(listing, most = listing.n) {
  const { column, descending } = sortingOf(listing), order = orderOf(listing), begins = new Set();
  /** @type {number | null} */
  let above = null;
  for (const n of order) { // a rule begins each cluster if the rows are in the default order
    const cluster = listing.cluster?.(n);
    if (column === listing.first && above != null && cluster != null && cluster !== above) begins.add(n);
    above = cluster ?? above;
  }
  const chosen = most < listing.n ? order.filter(n => matchesFilter(listing, n)).slice(0, most) : order;
  for (const n of chosen) {
    const row = rowOf(listing, n);
    row.classList.toggle("begins", begins.has(n));
    row.hidden = !matchesFilter(listing, n);
  }
  byId("standings").tBodies[0].append(...chosen.map(n => rows[n]));
  for (const head of byId("standings").querySelectorAll("th[data-key]")) {
    if (head.dataset.key === column.name) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  fitTable();
}

/**
 * @param {Listing} listing
 * @param {number} n
 */
function matchesFilter(listing, n) {
  const wanted = view.filter.toLowerCase();
  return listing.kind(n) === wanted || listing.texts(n).some(text => text.toLowerCase().includes(wanted));
}

/** @param {Listing} listing */
export function filterRows(listing) {
  const found = range(listing.n).filter(n => matchesFilter(listing, n));
  const matches = new Set(found);
  rows.forEach((row, n) => { row.hidden = !matches.has(n); });
  byId("found").textContent = view.filter ? `${found.length} of ${listing.n} systems`
    : `${listing.n} system${listing.n > 1 ? "s" : ""}`;
}

/**
 * Lets a table that fits the page's width scroll with the page, and any other in a region of its own.
 *
 * Less space between the columns is tried first. The head stays at the top of the screen or of the region.
 */
export function fitTable() {
  const table = byId("standings"), region = byId("systems"), fits = () => table.offsetWidth <= region.offsetWidth;
  region.classList.remove("tight");
  const fit = fits() || (region.classList.add("tight"), fits());
  region.classList.toggle("fits", fit);
  if (fit) region.removeAttribute("tabindex");
  else region.tabIndex = 0;
}
