// @ts-check
// Items and the responses to them, as the modules that draw them need them.

import { el } from "./dom.js";
import { data } from "./state.js";
import { chosenNames, numberOf, systemNumbers } from "./systems.js";
import { cellAt, harmless, range } from "./values.js";

const RESPONSE_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/**
 * The items of a leaderboard's facet, with the responses of its track, best first, and their scores by its metric.
 * @param {import("./types").Board} board
 * @returns {any}
 */
export function itemsOf(board) {
  const all = data.items[board.test_set];
  if (!all) return null;
  const metric = all.metrics.indexOf(board.metric), sign = board.better === "lower" ? 1 : -1;
  const takesPart = n => (cellAt(all.tracks, n) ?? "") === (board.track ?? "");
  const participants = range(all.names.length).filter(takesPart);
  const better = (a, b) => Number(a.score == null) - Number(b.score == null) || sign * (a.score - b.score) || b.by.length - a.by.length;
  const items = all.items.filter(item => !board.facet || item.facets.includes(board.facet)).map(item => {
    const responses = item.contents.map((content, n) => ({ content, score: cellAt(item.scores[metric] ?? null, n), by: /** @type {number[]} */ ([]) }));
    for (const n of participants) {
      responses[typeof item.by === "string" ? RESPONSE_DIGITS.indexOf(item.by[n]) : item.by[n]].by.push(n);
    }
    return { ...item, responses: responses.filter(({ by }) => by.length).sort(better) };
  });
  return { board, kind: all.kind, metric: board.metric, sign,
    names: all.names, takesPart, systemOf: n => numberOf(all, n, "teams", "systems"), leftOut: all.left_out,
    items: items.filter(({ responses }) => responses.length > 1) };
}

// An item in a line: its words or its first reference; how many systems give each label; how many links it has.
export function wordsOf(itemSet, item) {
  if (item.tokens.length) return item.tokens.join(" ");
  if (itemSet.kind === "alignment") return `gold: ${linksCounted(item)}`;
  if (itemSet.kind !== "label") return item.gold.map(([, content]) => content).find(content => typeof content === "string") ?? "";
  const given = item.responses.map(({ content: [added, lacking], by }) =>
    `${added.length || !lacking.length ? `“${answerName(item, added[0] ?? 0)}”` : "no response"} by ${by.length}`);
  return `${given.join(", ")}; gold “${answerName(item, 0)}”`;
}

// The number of the response that a run gives.
export const responseOf = (item, n) => item.responses.findIndex(response => response.by.includes(n));

// The runs of each of the chosen systems.
export const chosenRuns = itemSet => chosenNames(itemSet.board).map(name => systemNumbers.get(name)).filter(system => system !== undefined)
  .map(system => range(itemSet.names.length).filter(n => itemSet.takesPart(n) && itemSet.systemOf(n) === system)).filter(runs => runs.length);

// The numbers of the responses that some runs give.
const responsesBy = (item, runs) => String([...new Set(runs.map(n => responseOf(item, n)))].sort());

// True if the two chosen systems answer an item differently.
export const isAnsweredDifferently = (item, chosen) => chosen.length === 2 && responsesBy(item, chosen[0]) !== responsesBy(item, chosen[1]);

// True if all runs of a system answer an item like the gold.
export const isCorrect = (item, runs) => runs.every(n => {
  const { wrong, missed } = judgeAnswers(item, item.responses[responseOf(item, n)].content);
  return !wrong.length && !missed.length;
});

// The mean score of some runs on an item; undefined scores are the worst. `sign` is -1 if higher scores are better.
export const scoreOf = (item, runs, sign) =>
  runs.reduce((sum, n) => sum + (item.responses[responseOf(item, n)].score ?? sign * Infinity), 0) / runs.length;

// The right, wrong and missed answers of a response that is a set, by their numbers.
export function judgeAnswers(item, [added, lacking]) {
  const { sure, gold } = item.answers;
  return { right: [...range(sure).filter(n => !lacking.includes(n)), ...added.filter(n => n < gold)],
    wrong: added.filter(n => n >= gold), missed: lacking };
}

export const typeOfAnswer = ({ answers }, n) => answers.types[cellAt(answers.type, n)];

// An answer in words: its type, and what it is.
function answerName(item, n) {
  const { key, first, last, head, word } = item.answers;
  const what = key ? key[n] : first ? `${first[n]}-${last[n]}` : `${head[n]}>${word[n]}`;
  return [typeOfAnswer(item, n), what].filter(Boolean).join(" ");
}

export const goldLabel = source => (/** @type {Record<string, string>} */ ({ gold: "gold", "gold source": "source" })[source]
  ?? source.replace(/^gold /, "reference "));

// A button that replaces itself with what was left out.
export function openButton(text, label, content) {
  const button = el("button", { type: "button", class: "gap", "aria-label": label }, text);
  button.addEventListener("click", () => {
    const opened = el("span", { tabindex: -1 }, content());
    button.replaceWith(opened);
    opened.focus();
  });
  return button;
}

export const answerMark = (content, right, title = right ? "in the gold" : "not in the gold") =>
  el("li", { class: right ? "right-answer" : "wrong-answer" },
    el("span", { class: "mark", role: "img", "aria-label": title }, right ? "✓" : "✗"), " ", content);

export const linksCounted = ({ answers: { sure, gold } }) => `${sure} sure${gold > sure ? `, ${gold - sure} possible` : ""}`;

const MANY_ANSWERS = 12; // answers of the gold from which on correct ones are counted rather than listed

// Sets of answers, such as relations, and single labels.
export function answerParts(itemSet, item) {
  const name = n => el("bdi", {}, harmless(answerName(item, n)));
  const list = (answers, right) => answers.map(n => answerMark(name(n), right));
  const cell = content => {
    const { right, wrong, missed } = judgeAnswers(item, content), many = item.answers.gold >= MANY_ANSWERS;
    if (itemSet.kind === "label" && !right.length && !wrong.length) return el("i", {}, "no response");
    const answers = [...(many ? [] : list(right, true)), ...list(wrong, false)];
    return [many ? el("p", { class: "quiet" }, `${right.length} of ${item.answers.gold} correct`) : null,
      answers.length ? el("ul", { class: "answers" }, answers) : many ? null : el("span", { class: "quiet" }, "nothing"),
      missed.length && itemSet.kind !== "label" ? el("p", { class: "quiet" }, "misses ", missed.flatMap((n, k) => [k ? ", " : "", name(n)])) : null];
  };
  const gold = range(item.answers.gold);
  const goldCell = gold.length ? el("ul", { class: "answers" }, list(gold, true)) : el("span", { class: "quiet" }, "nothing");
  return { titles: ["response"], golds: [["gold", [goldCell]]], cells: ({ content }) => [cell(content)] };
}
