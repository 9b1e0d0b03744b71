// @ts-check
// The systems of the page by number: names, places, links, and facts that they declare; the citation and the frame that
// people copy.

import { byId, el, nameElement } from "./dom.js";
import { counted } from "./numbers.js";
import { boardHeading, data, hrefWith, view } from "./state.js";
import { cellAt, range, visible } from "./values.js";

/**
 * Facts that a submission declares, by name.
 * @param {string} submission
 * @returns {Record<string, any>}
 */
export const factsOf = submission => (Object.hasOwn(data.systems.of, submission) ? data.systems.of[submission] : {});
const LINKS = ["paper", "code"];
const externalLink = { target: "_blank", rel: "noopener noreferrer" };

/**
 * Links behind the name of a system; the data have only addresses of the web.
 * @param {string} submission
 */
export function linksOf(submission) {
  const facts = factsOf(submission);
  return LINKS.filter(name => facts[name]).flatMap(name =>
    [" ", el("a", { class: "fact", href: facts[name], ...externalLink }, name)]);
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
/**
 * Facts by name: their headings, how they are shown, and whether they are numbers.
 * @type {[string, string, (value: any) => any, boolean?][]}
 */
export const FACTS = [
  ["description", "description", visible],
  ["size", "parameters", value => compact.format(value), true],
  ["cost", data.task.cost_unit ? `cost (${visible(data.task.cost_unit)})` : "cost", value => value.toLocaleString("en"), true],
  ["licence", "licence", visible],
  ...LINKS.map(name => /** @type {[string, string, (value: any) => any]} */ ([name, name, value => el("a", { href: value, ...externalLink }, visible(value))])),
];

/**
 * Draws the facts that systems declare, as a table that is made when somebody opens it.
 * @param {import("./types").Board} board
 */
export function drawSystems(board) {
  const standings = board.standings, factsAt = n => factsOf(cellAt(standings.submission, n));
  const declaring = range(board.n).filter(n => FACTS.some(([key]) => factsAt(n)[key] != null));
  const box = byId("about-systems"), table = el("table", {});
  box.replaceChildren();
  if (!declaring.length) return;
  const more = data.systems.left_out;
  const details = el("details", {},
    el("summary", {}, `Descriptions of ${declaring.length === board.n ? "the systems" : `${declaring.length} of ${board.n} systems`}`),
    more ? el("p", { class: "quiet" }, `${counted(more, "description is", "descriptions are")} left out, because the page would be too large.`) : null,
    el("div", { class: "wide", role: "region", "aria-label": "Descriptions of systems", tabindex: 0 }, table));
  details.addEventListener("toggle", () => {
    const columns = FACTS.filter(([key]) => declaring.some(n => factsAt(n)[key] != null));
    table.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, boardHeading("system")),
        columns.map(([, title, , right]) => el("th", { scope: "col", class: right && "right" }, title)))),
      el("tbody", {}, declaring.map(n => el("tr", {}, el("th", { scope: "row" }, nameElement(cellAt(standings.shown, n))),
        columns.map(([key, , shown, right]) => el("td", { class: right ? "right" : key },
          factsAt(n)[key] == null ? "–" : el("bdi", {}, shown(factsAt(n)[key]))))))));
  });
  box.append(details);
}

const escapeMarkup = text => text.replace(/[&<>"']/g, c => `&#${c.codePointAt(0)};`);

// Markup of a frame with this view for another page; the frame may run its own script and reaches nothing around it.
function frameMarkup() {
  const address = location.protocol.startsWith("http") ? location.href : `https://example.org/${data.task.id}.html${location.hash}`;
  return `<iframe src="${escapeMarkup(address)}" title="${escapeMarkup(visible(document.title))}" width="100%" height="640" loading="lazy" ` +
    'sandbox="allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" style="border:0"></iframe>';
}

// Copies a text, or selects it if the browser does not let a page copy.
async function copyText(source, status) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    status.textContent = "Copied.";
  } catch {
    getSelection()?.selectAllChildren(source);
    status.textContent = "Selected: copy it with the keyboard.";
  }
}

export function listenToAbout() {
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-copies]"))) {
    button.addEventListener("click", () => copyText(byId(button.dataset.copies ?? ""), button.nextElementSibling));
  }
  byId("embed").addEventListener("toggle", () => { byId("frame").textContent = frameMarkup(); });
}

// Systems have numbers on the page; a name is the system's, with the team's if two teams use it.
const keyOf = (team, system) => JSON.stringify([team, system]);
/** @param {number} n */
export const nameOf = n => cellAt(data.details.names, n);
const numberByKey = new Map(range(data.details.n).map(n => [keyOf(cellAt(data.details.team, n), cellAt(data.details.system, n)), n]));
export const systemNumbers = new Map(range(data.details.n).map(n => [nameOf(n), n]));

/**
 * The number of the system of a row whose columns have its team and its name.
 * @param {Record<string, any>} rows
 * @param {number} row
 * @returns {any}
 */
export const numberOf = (rows, row, team = "team", system = "system") => numberByKey.get(keyOf(cellAt(rows[team], row), cellAt(rows[system], row)));

const placesByBoard = new WeakMap();

/**
 * The place of a system on a leaderboard, from 0; undefined if it has none.
 * @param {import("./types").Board} board
 * @param {any} n
 * @returns {any}
 */
export function placeOn(board, n) {
  if (!placesByBoard.has(board)) placesByBoard.set(board, new Map(range(board.n).map(place => [numberOf(board.standings, place), place])));
  return placesByBoard.get(board).get(n);
}

/**
 * The names of the two systems that the view chooses; both systems of a leaderboard with two if it chooses none.
 * @param {import("./types").Board} board
 * @returns {[string, string]}
 */
export const chosenNames = board => (board.n === 2 && !view.a && !view.b
  ? [nameOf(numberOf(board.standings, 0)), nameOf(numberOf(board.standings, 1))] : [view.a, view.b]);

/**
 * @param {any} n
 * @param {string} [shown]
 */
export const systemLink = (n, shown = nameOf(n)) => (n === undefined ? nameElement(shown)
  : el("a", { class: "to-system", href: hrefWith({ system: nameOf(n) }) }, nameElement(shown)));
