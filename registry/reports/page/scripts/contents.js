// @ts-check
// Links to the parts of the page, and the overview of its leaderboards.

import { byId, el } from "./dom.js";
import { viewOf } from "./state.js";

/** Draws a link to each section that the page shows. */
export function drawContents() {
  const sections = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("main section:not(#system, #overview), footer section")])
    .filter(section => section.offsetParent !== null);
  byId("contents").replaceChildren(...sections.map(section => {
    const heading = /** @type {HTMLElement} */ (section.querySelector("h2"));
    return el("a", { href: `#${heading.id}` }, heading.dataset.short ?? heading.textContent);
  }));
}

/**
 * Marks the link to the leaderboard that the page shows.
 * @param {import("./types").Board} [board]
 */
export function markBoard(board) {
  const selects = view => new URLSearchParams(Object.entries(view).filter(([, value]) => value)).toString();
  const chosen = board && selects(viewOf(board));
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("#overview a"))) {
    if (new URLSearchParams(link.hash.slice(1)).toString() === chosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

/**
 * Lets links to parts of the page keep the view in the address.
 * @param {() => void} chooseBoard is called when somebody follows a link of the overview
 */
export function listenToContents(chooseBoard) {
  document.addEventListener("click", event => {
    const link = /** @type {Element} */ (event.target).closest("a[href^='#']");
    if (!link) return;
    const part = document.getElementById(link.getAttribute("href")?.slice(1) ?? "");
    if (link.closest("#overview")) chooseBoard();
    if (!part) return;
    event.preventDefault();
    part.scrollIntoView();
    part.focus({ preventScroll: true });
  });
}
