// @ts-check
// Responses that are drawn: dependency trees, grids of word alignments, numbers on an axis, and rankings.

import { el, nameElement, runningText, svg } from "./dom.js";
import { answerMark, goldLabel, judgeAnswers, linksCounted, openButton, typeOfAnswer } from "./item-data.js";
import { plainNumber } from "./numbers.js";
import { cellAt, harmless, range, visible } from "./values.js";

export function treeParts(itemSet, item, responses) {
  const { head, word, sure } = item.answers;
  const arc = n => ({ word: word[n], head: head[n], type: harmless(typeOfAnswer(item, n)) });
  const gold = new Map(range(sure).map(arc).map(one => [one.word, one]));
  const trees = new Map(responses.map(response => [response, treeOf(response.content, arc, gold)]));
  const differing = [...gold.keys()].filter(place => responses.some(response => trees.get(response).lacking.has(place)));
  const further = responses.some(response => trees.get(response).further.length);
  /** @type {any} */
  const figure = el("div", {});
  const action = response => {
    const button = el("button", { type: "button", class: "small", "aria-label": `draw the tree of ${visible(itemSet.names[response.by[0]])}` }, "tree");
    button.addEventListener("click", () => {
      figure.replaceChildren(treeFigure(itemSet, item, response, trees.get(response), gold));
      figure.firstChild.focus();
      figure.scrollIntoView({ block: "nearest" });
    });
    return button;
  };
  const cellsOf = ({ lacking, own, further: others }) => [
    ...differing.map(place => (lacking.has(place) ? arcChange(item, own.get(place), gold.get(place))
      : el("span", { class: "quiet as-gold" }, el("span", { "aria-hidden": "true" }, "·"), el("span", { class: "unseen" }, "as the gold")))),
    ...(further ? [others.length ? String(others.length) : ""] : [])];
  return {
    titles: [...differing.map(place => wordOf(item, place)), ...(further ? ["other words"] : [])],
    golds: [["gold", [...differing.map(place => arcOf(item, /** @type {any} */ (gold.get(place)))), ...(further ? [""] : [])]]],
    cells: response => cellsOf(trees.get(response)), action,
    before: runningText(el("p", { class: "sentence" }, harmless(item.tokens.join(" ")))), after: figure };
}

// A response's arcs by their words, where it differs from the gold: those that the gold does not have, which of the
// gold's words have another one or none, and arcs of words that the gold does not have.
function treeOf([added, lacking], arc, gold) {
  const arcs = added.map(arc);
  return { lacking: new Set([...lacking.map(arc), ...arcs].map(({ word }) => word).filter(word => gold.has(word))),
    further: arcs.filter(({ word }) => !gold.has(word)),
    own: new Map(arcs.map(one => [one.word, one])) };
}

const wordOf = (item, place) => el("bdi", {}, harmless(item.tokens[place - 1] ?? ""), el("sub", {}, String(place)));
const headWord = (item, head) => (head === 0 ? "root" : typeof head === "number" ? wordOf(item, head) : "elsewhere");
const arcOf = (item, { type, head }) => [el("bdi", {}, type), " ← ", headWord(item, head)];

// What of an arc is otherwise than in the gold.
function arcChange(item, arc, gold) {
  if (!arc) return el("span", { class: "wrong-arc" }, "no such word");
  const relation = arc.type === gold.type ? [] : [el("bdi", {}, arc.type)];
  const head = arc.head === gold.head ? [] : ["← ", headWord(item, arc.head)];
  return el("span", { class: "wrong-arc" }, "✗ ", relation, relation.length && head.length ? " " : "", head);
}

const PAPER = 1050; // pixels: a wider drawing would have its relations below 6 points on a page of A4 or Letter

// A response's tree above the words, and the gold's below them; what only one of both has is dashed. On paper one that
// is too wide for it is a list of the words.
function treeFigure(itemSet, item, response, tree, gold) {
  const arcs = [...gold.values()].map(one => (tree.lacking.has(one.word) ? tree.own.get(one.word) : one)).filter(Boolean);
  const drawn = arcs.filter(({ head }) => typeof head === "number");
  const differs = one => tree.lacking.has(one.word);
  const places = wordPlaces(item.tokens, [...drawn, ...gold.values()]);
  const above = arcLevels(drawn), below = arcLevels([...gold.values()]);
  const rise = 18 * (1 + Math.max(1, ...above.values())), fall = 18 * (1 + Math.max(1, ...below.values()));
  const width = places[places.length - 1] + 60, base = rise + 6, lower = base + 26;
  const draw = (one, level, up) => arcPath(one, level, { x: places, y: up ? base : lower, sign: up ? -1 : 1, differs: differs(one), up });
  const wrong = tree.lacking.size, name = visible(itemSet.names[response.by[0]]);
  return el("figure", { class: width > PAPER ? "tree beyond-paper" : "tree", tabindex: -1 },
    el("figcaption", {}, el("b", {}, nameElement(itemSet.names[response.by[0]])), el("span", { class: "of-drawing" }, " above the words, the gold below"),
      `: ${wrong} of ${gold.size} words differ.`),
    el("div", { class: "wide", role: "region", tabindex: 0, "aria-label": `Tree of ${name}` },
      svg("svg", { width, height: lower + fall, viewBox: `0 0 ${width} ${lower + fall}`, role: "img",
        "aria-label": `Tree of ${name} and the gold's; the table above lists the words that differ` },
      drawn.map(one => draw(one, above.get(one), true)), [...gold.values()].map(one => draw(one, below.get(one), false)),
      item.tokens.map((form, n) => svg("text", { x: places[n], y: base + 17, "text-anchor": "middle" }, harmless(form))))),
    width > PAPER ? treeList(item, tree, gold) : "");
}

// The words of a tree one by one, each with its arc, and with the gold's where that is another one.
function treeList(item, tree, gold) {
  const own = place => (tree.own.has(place) ? arcOf(item, tree.own.get(place)) : "no such word");
  return el("ol", { class: "tree-list" }, item.tokens.map((form, n) => {
    const place = n + 1, arc = gold.has(place) ? arcOf(item, gold.get(place)) : "no arc";
    return el("li", {}, el("b", {}, el("bdi", {}, harmless(form))), " ",
      tree.lacking.has(place) ? [el("span", { class: "wrong-arc" }, "✗ ", own(place)), " (gold: ", arc, ")"] : arc);
  }));
}

// Where words stand, so far apart that their forms, and the relations between neighbours, have room.
function wordPlaces(tokens, arcs) {
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  pen.font = `15px ${getComputedStyle(document.body).fontFamily}`;
  const widths = tokens.map(form => Math.min(300, pen.measureText(harmless(form)).width));
  const places = [Math.max(40, widths[0] / 2 + 10)];
  for (let n = 1; n < tokens.length; n++) {
    const labels = arcs.filter(({ head, word }) => Math.min(head, word) === n && Math.max(head, word) === n + 1)
      .map(({ type }) => pen.measureText(type).width * 0.8 + 14);
    places.push(places[n - 1] + Math.max(34, (widths[n - 1] + widths[n]) / 2 + 14, ...labels));
  }
  return places;
}

// How high each arc goes: above all that it crosses or spans; the root's comes from above all.
function arcLevels(arcs) {
  const ends = ({ head, word }) => [Math.min(head, word), Math.max(head, word)];
  const levels = new Map(), span = one => ends(one)[1] - ends(one)[0];
  for (const one of arcs.filter(({ head }) => head !== 0).sort((a, b) => span(a) - span(b))) {
    const [from, to] = ends(one);
    const under = [...levels].filter(([other]) => ends(other)[0] < to && ends(other)[1] > from);
    levels.set(one, 1 + Math.max(0, ...under.map(([, level]) => level)));
  }
  const top = 1 + Math.max(0, ...levels.values());
  for (const one of arcs.filter(({ head }) => head === 0)) levels.set(one, top);
  return levels;
}

function arcPath({ head, word, type }, level, { x, y, sign, differs, up }) {
  const to = x[word - 1], top = y + sign * 18 * level, label = differs && up ? `✗ ${type}` : type;
  const name = `arc${differs ? " differs" : ""}${up ? "" : " of-gold"}`;
  const tip = svg("path", { class: "tip", d: `M ${to} ${y} l -3 ${sign * 6} h 6 z` });
  if (head === 0) {
    return svg("g", { class: name }, svg("line", { x1: to, x2: to, y1: y, y2: top }), tip,
      svg("text", { x: to, y: top + (sign < 0 ? -3 : 11), "text-anchor": "middle" }, label));
  }
  const side = Math.sign(to - x[head - 1]), from = x[head - 1] + side * 5, end = to - side * 3;
  const arrow = svg("path", { class: "tip", d: `M ${end} ${y} l -3 ${sign * 6} h 6 z` });
  return svg("g", { class: name }, svg("path", { d: `M ${from} ${y} V ${top - sign * 5} Q ${from} ${top} ${from + side * 5} ${top} ` +
    `H ${end - side * 5} Q ${end} ${top} ${end} ${top - sign * 5} V ${y}` }), arrow,
  svg("text", { x: (from + end) / 2, y: top + (sign < 0 ? -3 : 11), "text-anchor": "middle" }, label));
}

const LINKS_AT_ONCE = 15; // that are listed of what a response has wrong or misses
const WIDE_GRID = 60; // words from which on only those that have links are shown

export function gridParts(itemSet, item, responses) {
  const { first, last, sure, gold } = item.answers;
  const link = n => `${first[n]}\u2011${last[n]}`; // which does not break
  const written = numbers => numbers.map(link).join(" ");
  const linksOf = numbers => (numbers.length <= LINKS_AT_ONCE ? written(numbers) : [written(numbers.slice(0, LINKS_AT_ONCE)), " ",
    openButton(`${numbers.length - LINKS_AT_ONCE} more`, `show ${numbers.length - LINKS_AT_ONCE} more links`, () => written(numbers.slice(LINKS_AT_ONCE)))]);
  const sides = [responses[0], responses.length > 1 ? responses.at(-1) : null];
  const holder = el("div", {});
  const redraw = () => holder.replaceChildren(linkGrid(itemSet, item, sides));
  const choose = (title, side) => {
    const options = [...responses.map((response, n) => [n, shortName(itemSet, response)]), [-1, "no system"]];
    const select = el("select", {}, options.map(([n, text]) => el("option", { value: n, selected: (responses[n] ?? null) === sides[side] }, text)));
    select.addEventListener("change", () => {
      sides[side] = responses[Number(select.value)] ?? null;
      redraw();
    });
    return el("label", {}, title, " ", select);
  };
  redraw();
  const cell = content => {
    const { right, wrong, missed } = judgeAnswers(item, content), possible = right.filter(n => n >= sure).length;
    return [`${right.length - possible} of ${sure} sure`, gold > sure ? `, ${possible} of ${gold - sure} possible` : "",
      wrong.length ? el("span", { class: "wrong-arc" }, ", ✗ ", linksOf(wrong)) : ", none incorrect",
      missed.length ? el("span", { class: "quiet" }, "; misses ", linksOf(missed)) : ""];
  };
  return { titles: ["links, source-target"], golds: [["gold", [linksCounted(item)]]], cells: ({ content }) => [cell(content)],
    before: el("div", { class: "link-grid" }, el("div", { class: "bar" }, choose("○ circle:", 0), choose("✕ cross:", 1)), holder) };
}
const shortName = (itemSet, { by }) => visible(itemSet.names[by[0]]) + (by.length > 1 ? ` and ${by.length - 1} more` : "");

// The words of a side that the grid has: all, or where these are many those that somebody links.
const gridWords = used => {
  const all = [...new Set(used)].sort((a, b) => a - b);
  return all.at(-1) > WIDE_GRID ? all : range(all.at(-1) ?? 0).map(n => n + 1);
};

function linkGrid(itemSet, item, sides) {
  const { first, last, sure, gold } = item.answers;
  const given = sides.map(side => new Set(side ? [...judgeAnswers(item, side.content).right, ...judgeAnswers(item, side.content).wrong] : []));
  const links = range(first.length).filter(n => n < gold || given.some(theirs => theirs.has(n)));
  const rows = gridWords(links.map(n => first[n])), columns = gridWords(links.map(n => last[n]));
  const size = Math.max(rows.length, columns.length) > 40 ? 11 : 15, edge = 26;
  const x = n => edge + columns.indexOf(last[n]) * size, y = n => edge + rows.indexOf(first[n]) * size;
  const width = edge + columns.length * size + 2, height = edge + rows.length * size + 2;
  const numbers = (words, place) => words.map((word, n) => (word % 5 && word !== 1 && words.length > 12 ? null : place(word, n)));
  const drawn = links.map(n => svg("g", {},
    svg("title", {}, linkTitle(itemSet, `${first[n]}-${last[n]}`, n < sure ? "sure" : n < gold ? "possible" : "not in the gold", sides.filter((_, k) => given[k].has(n)))),
    n < gold ? svg("rect", { class: n < sure ? "sure" : "possible", x: x(n) + 1.5, y: y(n) + 1.5, width: size - 3, height: size - 3 }) : null,
    given[0].has(n) ? svg("circle", { class: "first", cx: x(n) + size / 2, cy: y(n) + size / 2, r: size * 0.34 }) : null,
    given[1].has(n) ? svg("path", { class: "second", d: `M ${x(n) + 3.5} ${y(n) + 3.5} l ${size - 7} ${size - 7} m 0 ${7 - size} l ${7 - size} ${size - 7}` }) : null));
  const label = `Links of ${sides.filter(Boolean).map(side => shortName(itemSet, side)).join(" and of ")} in the gold's; the table below lists incorrect and missed links`;
  return el("div", {}, el("div", { class: "wide", role: "region", tabindex: 0, "aria-label": "Grid of links" },
    svg("svg", { class: "links", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
      [...range(rows.length + 1).map(n => svg("line", { x1: edge, x2: width - 2, y1: edge + n * size, y2: edge + n * size })),
        ...range(columns.length + 1).map(n => svg("line", { y1: edge, y2: height - 2, x1: edge + n * size, x2: edge + n * size }))],
      numbers(rows, (word, n) => svg("text", { x: edge - 4, y: edge + (n + 0.75) * size, "text-anchor": "end" }, String(word))),
      numbers(columns, (word, n) => svg("text", { x: edge + (n + 0.5) * size, y: edge - 5, "text-anchor": "middle" }, String(word))), drawn)),
  el("p", { class: "quiet" }, el("span", { class: "on-paper" }, sides.map((side, k) => side && `${"○✕"[k]} ${shortName(itemSet, side)}. `)),
    `Down the source's words, across the target's. Filled squares are the gold's sure links${gold > sure ? ", dashed ones its possible links" : ""}.`));
}

const linkTitle = (itemSet, link, where, by) => `${link}: ${where}; ${by.length ? by.map(side => shortName(itemSet, side)).join(", ") : "neither"}`;

const AXIS = 180; // its width
const FIRST_DOCUMENTS = 10; // that are shown at once

export function numberParts(_, item) {
  const leading = content => content?.[0]?.[1];
  const gold = item.gold.map(([, content]) => leading(content)).find(value => value != null);
  const values = [...item.responses.map(({ content }) => leading(content)), gold].filter(value => value != null);
  const low = Math.min(...values), high = Math.max(...values);
  const x = value => 6 + (AXIS - 12) * (high > low ? (value - low) / (high - low) : 0.5);
  const axis = value => svg("svg", { class: "interval number-axis", width: AXIS, height: 16, viewBox: `0 0 ${AXIS} 16`, "aria-hidden": "true" },
    svg("line", { class: "rail", x1: 6, x2: AXIS - 6, y1: 8, y2: 8 }),
    gold == null ? null : svg("line", { class: "tick-of-gold", x1: x(gold), x2: x(gold), y1: 1, y2: 15 }),
    value == null ? null : svg("circle", { cx: x(value), cy: 8, r: 3.5 }));
  const shown = content => [el("span", { class: "numbers" }, content.map(([name, value], n) => [n ? ", " : "", name ? `${visible(name)} ` : "", plainNumber(value)])),
    " ", axis(leading(content))];
  const cell = content => (content == null ? el("i", {}, "no response") : el("div", { class: "numbered" }, shown(content)));
  return { titles: ["response"], cells: ({ content }) => [cell(content)],
    golds: item.gold.filter(([, content]) => content != null).map(([source, content]) =>
      [goldLabel(source), [el("div", { class: "numbered" }, shown(content))]]) };
}

export function rankingParts(_, item) {
  const { key, relevance, gold } = item.answers;
  const documentOf = n => {
    const judged = cellAt(relevance, n) ?? null, name = el("bdi", {}, harmless(key[n]));
    if (n < gold) return answerMark(judged > 1 ? [name, ` (${judged})`] : name, true, "relevant");
    return judged == null ? el("li", {}, el("span", { class: "mark quiet", role: "img", "aria-label": "not judged" }, "?"), " ", name)
      : answerMark(name, false, "not relevant");
  };
  const list = numbers => [el("ol", { class: "answers ranked" }, numbers.slice(0, FIRST_DOCUMENTS).map(documentOf)),
    numbers.length > FIRST_DOCUMENTS ? openButton(`${numbers.length - FIRST_DOCUMENTS} more`, `show ${numbers.length - FIRST_DOCUMENTS} more documents`,
      () => el("ol", { class: "answers ranked", start: FIRST_DOCUMENTS + 1 }, numbers.slice(FIRST_DOCUMENTS).map(documentOf))) : null];
  const cell = ([first, returned, found]) => [el("p", { class: "quiet" }, `${found} of ${gold} relevant among ${returned.toLocaleString("en")}`), list(first)];
  const goldCell = [el("p", { class: "quiet" }, `${gold} relevant`), list(range(gold))];
  return { titles: [`first ${FIRST_DOCUMENTS}`], golds: [["gold", [goldCell]]], cells: ({ content }) => [cell(content)] };
}
