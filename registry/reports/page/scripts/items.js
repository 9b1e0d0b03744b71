// @ts-check
// The items on which systems disagree most: found, ordered, and opened one by one.

import { byId, el, nameElement, selectOf } from "./dom.js";
import { answerParts, chosenRuns, isAnsweredDifferently, isCorrect, itemsOf, openButton, scoreOf, wordsOf } from "./item-data.js";
import { gridParts, numberParts, rankingParts, treeParts } from "./item-drawings.js";
import { spanParts, stripParts, textBases, textParts } from "./item-texts.js";
import { fixed } from "./numbers.js";
import { setView, view, viewChanges } from "./state.js";
import { chosenNames, nameOf } from "./systems.js";
import { harmless, range, visible } from "./values.js";
import { chooseTwo } from "./versus.js";

const NAMES_AT_ONCE = 12; // of systems that give the same response, listed at once

// The gold of an open item, and below it every different response with its systems.
//
// A drawer gives the `titles` of the columns between systems and score, the rows of the gold (`golds`: a label and its
// cells), the `cells` of a response, perhaps an `action` on it, and nodes `before` and `after` the table.
function responsesTo(itemSet, item, chosen) {
  const responses = item.responses.filter(({ by }) => !chosen.length || by.some(n => chosen.includes(n)));
  /** @type {Record<string, (of: any, item: any, responses: any, chosen: any) => any>} */
  const drawers = { text: textParts, number: numberParts, ranking: rankingParts, tree: treeParts, alignment: gridParts,
    span: item.tokens.length ? spanParts : stripParts };
  const parts = (drawers[itemSet.kind] ?? answerParts)(itemSet, item, responses, chosen);
  const many = parts.titles.length > 1; // columns, which scroll: the score stands before them
  const inRow = (cells, score) => (many ? [score, ...cells] : [...cells, score]);
  const untabled = title => el("span", { class: "untabled", "aria-hidden": "true" }, title.cloneNode?.(true) ?? title, " "); // where there is no head
  const cellsOf = (contents, score) => inRow(contents.map((content, n) => el("td", {}, many && content !== "" ? untabled(parts.titles[n]) : null, content)),
    el("td", { class: "right" }, score === "" ? null : untabled(visible(itemSet.metric)), score));
  const table = el("table", { class: many ? "responses many" : "responses" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "by"), inRow(
      parts.titles.map(title => el("th", { scope: "col" }, title)), el("th", { scope: "col", class: "right" }, visible(itemSet.metric))))),
    el("tbody", {}, parts.golds.map(([label, cells]) => el("tr", { class: "gold" }, el("th", { scope: "row" }, visible(label)), cellsOf(cells, ""))),
      responses.map(response => el("tr", {},
        el("th", { scope: "row" }, systemsBy(itemSet, response.by.filter(n => !chosen.length || chosen.includes(n))), parts.action?.(response)),
        cellsOf(parts.cells(response), response.score == null ? "–" : fixed(response.score))))));
  return [parts.before, el("div", { class: "wide tall", role: "region", tabindex: 0, "aria-label": `Responses to item ${visible(item.item)}` }, table),
    parts.after].filter(Boolean);
}

function systemsBy(itemSet, by) {
  const names = some => some.flatMap((n, k) => [k ? ", " : "", nameElement(itemSet.names[n])]);
  if (by.length <= NAMES_AT_ONCE) return names(by);
  const others = by.slice(NAMES_AT_ONCE - 2);
  return [...names(by.slice(0, NAMES_AT_ONCE - 2)), " ", openButton(`and ${others.length} more`, `show ${others.length} more systems`, () => [", ", ...names(others)])];
}

const ITEM_STEP = 25; // items that are listed at a time
const ITEM_ORDERS = [["", "most disagreement first"], ["hard", "hardest first"], ["place", "as in the test set"]];
let shownItems = ITEM_STEP;
let openedItem = "";

// The mean score of all that take part.
function meanScore({ responses }) {
  const scored = responses.filter(({ score }) => score != null), n = scored.reduce((sum, { by }) => sum + by.length, 0);
  return n ? scored.reduce((sum, { score, by }) => sum + score * by.length, 0) / n : null;
}

function orderItems(itemSet, items) {
  if (view.order === "place") return [...items].sort((a, b) => a.place - b.place);
  if (view.order !== "hard") return items;
  const means = new Map(items.map(item => [item, meanScore(item)]));
  return [...items].sort((a, b) => Number(means.get(a) == null) - Number(means.get(b) == null) || itemSet.sign * (means.get(b) - means.get(a)));
}

// Whether an item's name, words, answers or a response have a text in them.
function matchesText(item, wanted) {
  item.words ??= JSON.stringify([item.item, item.tokens.join(" "), item.gold, item.contents.filter(content => typeof content === "string"),
    item.answers.key ?? "", item.answers.types]).toLowerCase();
  return item.words.includes(JSON.stringify(wanted.toLowerCase()).slice(1, -1));
}

export function drawItems(board) {
  const itemSet = itemsOf(board);
  byId("items").hidden = !itemSet?.items.length;
  if (!itemSet?.items.length) return;
  shownItems = ITEM_STEP;
  const where = [board.test_set, board.track && `track ${board.track}`, board.facet].filter(Boolean).map(visible).join(", ");
  const one = itemSet.items.length === 1;
  byId("items-what").replaceChildren(`${one ? "The item" : `The ${itemSet.items.length} items`} of ${where} on which responses differ most, ` +
    `scored by ${visible(itemSet.metric)}. Select ${one ? "it" : "an item"} to see the gold and all responses.`,
    el("span", { class: "keys" }, one ? "" : " Arrow keys go from item to item; in an open item, n and p go to the next and the previous one."),
    itemSet.leftOut ? ` ${itemSet.leftOut} more are left out, because the page would be too large.` : "");
  drawItemsBar(board, itemSet);
  listItems(itemSet);
  if (view.item && view.item !== openedItem) nodeOf(view.item)?.scrollIntoView();
  openedItem = view.item;
}

function drawItemsBar(board, itemSet) {
  const changed = key => value => {
    setView({ [key]: value });
    listItems(itemSet);
  };
  const present = new Set(range(itemSet.names.length).filter(itemSet.takesPart).map(itemSet.systemOf));
  const systems = [["", "all"], ...[...present].filter(n => n !== undefined).map(n => [nameOf(n), nameOf(n)])];
  const side = key => value => chooseTwo(board, { [key]: value });
  const chosen = chosenRuns(itemSet), [a, b] = chosenNames(board), facets = board.facet ? [] : [...new Set(itemSet.items.flatMap(item => item.facets))].sort();
  const find = el("input", { type: "search", autocomplete: "off", value: view.find, placeholder: "words, answers, names" });
  find.addEventListener("input", () => changed("find")(find.value));
  byId("items-bar").replaceChildren(
    selectOf("System A", systems, a, side("a")), selectOf("System B", systems, b, side("b")),
    ...(itemSet.items.length > 1 && chosen.length ? [selectOf("Show", correctnessChoices(itemSet, chosen), view.correct, changed("correct"))] : []),
    ...(itemSet.items.length > 1 ? [selectOf("Order", ITEM_ORDERS, view.order, changed("order"))] : []),
    ...(facets.length > 1 ? [selectOf("Items on", [["", "all"], ...facets.map(facet => [facet, facet])], view.on, changed("on"))] : []),
    ...(itemSet.kind === "text" ? [selectOf("Changes from", textBases(itemSet), view.diff, changed("diff"))] : []),
    ...(itemSet.items.length > 1 ? [el("label", {}, "Find ", find),
      el("span", { id: "items-found", class: "quiet", "aria-live": "polite" })] : []));
}

// Which items are shown, by the choice in the view; `sign` is -1 if higher scores are better.
/** @type {Record<string, (item: any, chosen: number[][], sign: number) => boolean>} */
const CORRECTNESS = {
  "": (item, chosen) => chosen.length < 2 || isAnsweredDifferently(item, chosen),
  first: (item, [a, b]) => isCorrect(item, a) && !(b && isCorrect(item, b)),
  second: (item, [a, b]) => !isCorrect(item, a) && isCorrect(item, b),
  both: (item, chosen) => chosen.every(runs => isCorrect(item, runs)),
  neither: (item, chosen) => !chosen.some(runs => isCorrect(item, runs)),
  better: (item, [a, b], sign) => sign * (scoreOf(item, a, sign) - scoreOf(item, b, sign)) < 0,
  worse: (item, [a, b], sign) => sign * (scoreOf(item, a, sign) - scoreOf(item, b, sign)) > 0,
};
const UNJUDGED = ["text", "number", "ranking"]; // kinds of responses that are not simply correct or incorrect

// Texts and numbers have better responses, other kinds also correct ones.
function correctnessChoices({ kind, sign }, chosen) {
  const isJudged = !UNJUDGED.includes(kind), compared = sign < 0 ? "a higher score" : "a lower score";
  if (chosen.length < 2) return [["", "all"], ...(isJudged && chosen.length ? [["first", "correct"], ["neither", "not correct"]] : [])];
  return [["", "different answers"],
    ...(isJudged ? [["first", "A correct, B not"], ["second", "B correct, A not"], ["both", "both correct"], ["neither", "neither correct"]] : []),
    ["better", `${compared} of A`], ["worse", `${compared} of B`]];
}

function listItems(itemSet) {
  const chosen = chosenRuns(itemSet);
  const isOffered = correctnessChoices(itemSet, chosen).some(([value]) => value === view.correct);
  const selects = CORRECTNESS[isOffered ? view.correct : ""];
  const fits = item => selects(item, chosen, itemSet.sign) &&
    (!view.on || item.facets.includes(view.on)) && (!view.find || matchesText(item, view.find));
  const items = orderItems(itemSet, itemSet.items.filter(fits));
  const shown = items.slice(0, shownItems);
  const wanted = items.find(item => item.item === view.item);
  if (wanted && !shown.includes(wanted)) shown.push(wanted);
  const more = el("button", { type: "button", hidden: items.length <= shownItems }, "Show more items");
  more.addEventListener("click", () => {
    shownItems += ITEM_STEP;
    listItems(itemSet);
    byId("item-list").querySelectorAll("summary")[shownItems - ITEM_STEP]?.focus();
  });
  byId("item-list").replaceChildren(...(shown.length ? shown.map(item => itemOf(itemSet, item, chosen.flat()))
    : [el("p", {}, chosen.length < 2 ? "No item matches." : "No item matches these two systems and filters.")]), more);
  if (byId("items-found")) byId("items-found").textContent = items.length === itemSet.items.length ? "" : `${items.length} of ${itemSet.items.length} items`;
}

const nodeOf = name => [...byId("item-list").querySelectorAll("details")].find(node => node.dataset.item === name);

function itemOf(itemSet, item, chosen) {
  const differ = item.responses.length;
  const body = el("div", { class: `opened-item of-${itemSet.kind}` });
  const node = el("details", { "data-item": item.item }, el("summary", {}, el("b", {}, nameElement(item.item)),
    el("span", { class: "quiet" }, ` ${differ === 1 ? "one response" : `${differ} different responses`} `),
    el("bdi", { class: "snippet" }, harmless(wordsOf(itemSet, item).slice(0, 300)))), body);
  node.addEventListener("toggle", () => {
    if (node.open && !body.firstChild) body.append(...responsesTo(itemSet, item, chosen), itemLinks(item));
    if (node.open) setView({ item: item.item });
    else if (view.item === item.item) setView({ item: "" });
    openedItem = view.item;
  });
  node.open = item.item === view.item;
  return node;
}

// What leads from an open item to others, and to itself.
function itemLinks(item) {
  const button = (title, step) => {
    const node = el("button", { type: "button" }, title);
    node.addEventListener("click", () => goToItem(nodeOf(item.item), step));
    return node;
  };
  const link = el("a", { href: `#${new URLSearchParams({ ...viewChanges(), item: item.item })}` }, "Link to this item");
  link.addEventListener("click", event => {
    event.preventDefault();
    navigator.clipboard?.writeText(link.href).then(() => { link.textContent = "Link copied"; }, () => {});
  });
  return el("div", { class: "bar" }, button("Previous item", -1), button("Next item", 1), link);
}

function goToItem(node, step) {
  const next = step > 0 ? node.nextElementSibling : node.previousElementSibling;
  if (next?.tagName === "BUTTON" && !next.hidden) next.click(); // there are more items than are listed
  const to = next?.tagName === "DETAILS" ? next : byId("item-list").querySelectorAll("details")[shownItems - ITEM_STEP];
  if (!next || next.hidden || !to) return;
  node.open = false;
  to.open = true;
  to.firstChild.focus();
  to.scrollIntoView();
}

/** Handles keys on the list of items. */
export function listenToItems() {
  byId("item-list").addEventListener("keydown", event => {
    const node = event.target.closest("details"), plain = !(event.ctrlKey || event.metaKey || event.altKey);
    if (!node || !plain || event.target.matches("input, select")) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], turn = { n: 1, p: -1 }[event.key];
    const beside = step > 0 ? node.nextElementSibling : node.previousElementSibling;
    if (step && event.target === node.firstChild && beside) {
      event.preventDefault();
      (beside.firstElementChild ?? beside).focus();
    } else if (turn && node.open) goToItem(node, turn);
  });
}
