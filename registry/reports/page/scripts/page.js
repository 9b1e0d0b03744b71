// @ts-check
// Draws a task's page, and draws again what a change of the view changes.

import { boardListing, drawControls, findBoard, firstBoardOf, wideListing, wideOf } from "./boards.js";
import { drawCharts, redrawCharts } from "./charts.js";
import { drawContents, listenToContents, markBoard } from "./contents.js";
import { afterPaint, breakable, byId, el, hideTip } from "./dom.js";
import { boardSheet, drawDownloads, wideSheet } from "./downloads.js";
import { drawItems, listenToItems } from "./items.js";
import { arrangeRows, drawColumnChoice, drawTable, filterRows, FIRST_ROWS, fitTable } from "./listing.js";
import { counted, setDecimals } from "./numbers.js";
import { listenToMatrix } from "./pairs.js";
import { drawPast } from "./past.js";
import { chosenDimensions, data, readView, setShown, setView, shown, view } from "./state.js";
import { drawSystem, pageTitle } from "./system.js";
import { drawSystems, listenToAbout, systemNumbers } from "./systems.js";
import { visible } from "./values.js";
import { drawVersus } from "./versus.js";

let isFollowingLink = false; // of the page itself
let isChoosingBoard = false; // by a link of the overview

/** @param {string} [last] the part of the view that was changed last */
function draw(last) {
  hideTip();
  byId("main").setAttribute("aria-busy", "true");
  const board = findBoard(last), system = systemNumbers.get(view.system);
  byId("main").classList.toggle("of-system", system !== undefined);
  byId("system").hidden = system === undefined;
  if (system === undefined) document.title = pageTitle;
  const wide = view.show === "wide" ? wideOf(board.track) : undefined;
  setDecimals(board.decimals);
  const listing = wide ? wideListing(wide) : boardListing(board);
  setShown(board, listing);
  setView({ show: wide ? "wide" : "",
    ...Object.fromEntries(chosenDimensions.map(([key, field]) => [key, board === data.boards[0] ? "" : board[field] ?? ""])) });
  drawControls(board, wide, draw);
  byId("contents").hidden = byId("result").hidden = system !== undefined;
  if (system !== undefined) {
    drawSystem(board, system);
    revealTarget();
    return;
  }
  drawResult(wide?.result ? { result: wide.result, warnings: [] } : wide ? firstBoardOf(wide) : board);
  markBoard(wide ? undefined : board);
  drawColumnChoice(listing, () => draw());
  drawTable(listing);
  drawDownloads(() => (wide ? wideSheet(wide) : boardSheet(board)), wide ?? board);
  byId("of-one").hidden = Boolean(wide);
  byId("methods").textContent = visible(board.methods);
  byId("signature").replaceChildren(...breakable(board.signature));
  afterPaint(() => { // the first rows are painted first
    if (shown.listing !== listing) return;
    if (listing.n > FIRST_ROWS) arrangeRows(listing);
    if (!wide) drawCharts(board);
    drawVersus(board);
    drawItems(board);
    drawPast(board);
    drawSystems(board);
    drawContents();
    revealTarget();
  });
}

/** @param {Pick<import("./types").Board, "result" | "warnings">} board */
function drawResult(board) {
  const n = board.warnings.filter(({ severity }) => severity !== "info").length;
  byId("result").replaceChildren(el("bdi", {}, visible(board.result).replaceAll(" = ", "\u00a0=\u00a0")),
    ...(n ? [" ", el("a", { class: "unprinted", href: "#sentences" }, counted(n, "warning"))] : []));
}

// Marks the page as complete, and scrolls to the target of a link that was followed.
function revealTarget() {
  byId("main").setAttribute("aria-busy", "false");
  if (!isFollowingLink) return;
  const item = view.item && byId("item-list").querySelector("details[open] summary");
  const to = systemNumbers.has(view.system) ? byId("system-heading") : isChoosingBoard ? byId("leaderboard")
    : item || (view.a && view.b ? byId("versus-heading") : null);
  isFollowingLink = isChoosingBoard = false;
  if (systemNumbers.has(view.system)) scrollTo(0, 0);
  else to?.scrollIntoView();
  to?.focus({ preventScroll: true });
}

readView();
byId("filter").value = view.filter;
byId("filter").addEventListener("input", event => {
  setView({ filter: event.target.value });
  if (shown.listing) filterRows(shown.listing);
});
byId("controls").addEventListener("submit", event => event.preventDefault());
for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (document.getElementsByName("p"))) {
  input.addEventListener("change", () => {
    setView({ p: input.value });
    if (shown.board) drawCharts(shown.board);
  });
}
listenToItems();
listenToMatrix();
listenToAbout();
listenToContents(() => { isChoosingBoard = true; });
byId("options").open = Boolean(view.filter || view.hide) || (data.boards.length > 1 && innerWidth >= 640);
addEventListener("hashchange", () => {
  readView();
  byId("filter").value = view.filter;
  setShown();
  isFollowingLink = true;
  draw();
});
addEventListener("keydown", event => { if (event.key === "Escape") hideTip(); });
addEventListener("resize", fitTable);
addEventListener("resize", redrawCharts);
document.documentElement.classList.add("draws");
draw();
