// @ts-check
// Responses in running text: spans, and texts with their differences from a reference, word by word.

import { el, runningText, svg } from "./dom.js";
import { answerParts, goldLabel, judgeAnswers, openButton, responseOf, typeOfAnswer } from "./item-data.js";
import { view } from "./state.js";
import { harmless, range, visible } from "./values.js";

const WORDS_AROUND = 8; // words that are shown on either side of a span of a long text
const LONG_TEXT = 40; // words from which on a text is long
const SPAN_LANES = 4; // lines below each other, of spans that overlap

export function spanParts(_, item) {
  const { first, last, gold } = item.answers;
  const mark = kind => n => ({ from: first[n] - 1, to: last[n] - 1, type: harmless(typeOfAnswer(item, n)), kind });
  const keep = shownWords(item);
  const goldText = markSpans(item, keep, range(gold).map(mark("gold")));
  const shown = content => {
    const { right, wrong, missed } = judgeAnswers(item, content);
    return markSpans(item, keep, [...right.map(mark("right")), ...wrong.map(mark("wrong")), ...missed.map(mark("missed"))]);
  };
  return { titles: ["response"], golds: [["gold", [goldText]]], cells: ({ content }) => [shown(content)] };
}

// Whether each word is shown: those of spans that anybody has and some around them, and what is too short to be folded.
function shownWords({ tokens, answers }) {
  const keep = tokens.map(() => tokens.length <= LONG_TEXT);
  answers.first.forEach((from, n) => keep.fill(true, Math.max(0, from - 1 - WORDS_AROUND), answers.last[n] + WORDS_AROUND));
  for (let from = keep.indexOf(false); from >= 0; from = keep.indexOf(false, from + 1)) {
    const end = keep.indexOf(true, from), to = end < 0 ? keep.length : end;
    if (to - from < WORDS_AROUND) keep.fill(true, from, to);
    from = to;
  }
  return keep;
}

// The words with marks; a mark that overlaps another one has a lane of its own.
function markSpans({ tokens }, keep, marks) {
  const missedLast = ({ kind }) => kind === "missed";
  marks.sort((a, b) => Number(missedLast(a)) - Number(missedLast(b)) || a.from - b.from || b.to - a.to);
  const lanes = /** @type {any[][]} */ ([]);
  for (const mark of marks) {
    const free = lanes.findIndex(lane => lane.every(({ from, to }) => to < mark.from || from > mark.to));
    mark.lane = free < 0 ? lanes.push([]) - 1 : free;
    lanes[mark.lane].push(mark);
  }
  const ends = new Set([0, tokens.length, ...marks.flatMap(({ from, to }) => [from, to + 1])]);
  keep.forEach((kept, n) => { if (n && kept !== keep[n - 1]) ends.add(n); });
  const places = [...ends].filter(place => place <= tokens.length).sort((a, b) => a - b);
  const parts = places.slice(1).flatMap((end, k) => markWords(tokens.slice(places[k], end), keep[places[k]], end,
    marks.filter(({ from, to }) => from <= places[k] && to >= end - 1)));
  const text = runningText(parts);
  text.classList.add(`lanes-${Math.min(lanes.length, SPAN_LANES)}`);
  marks.sort((a, b) => a.from - b.from);
  return [text, el("p", { class: "unseen" }, marks.length ? marks.map(spanLabel(tokens)).join("; ") : "no span")];
}

// A stretch of words up to a place, within the same marks; those that end there bear their types.
function markWords(words, kept, end, marks) {
  const text = harmless(words.join(" "));
  if (!kept) return [openButton("…", `show ${words.length} more words`, () => text), " "];
  const within = (content, { kind, lane }, ...type) => el("span", { class: `span-${kind} lane-${lane % SPAN_LANES}` }, content, type);
  const ending = marks.filter(({ to }) => to === end - 1), going = marks.filter(({ to }) => to >= end);
  const inner = ending.reduce((content, mark) => within(content, mark, typeLabel(mark)), text);
  return going.length ? [going.reduce((content, mark) => within(content, mark), [inner, " "])] : [inner, " "];
}

const SPAN_SIGNS = { gold: "", right: "✓", wrong: "✗", missed: "missed" };
const typeLabel = ({ type, kind }) => el("span", { class: "type", "aria-hidden": "true" }, [SPAN_SIGNS[kind], type].filter(Boolean).join(" "));

const SPAN_LABELS = { gold: "", right: "in the gold", wrong: "not in the gold", missed: "missed" };
const spanLabel = tokens => ({ from, to, type, kind }) =>
  [type, `“${harmless(tokens.slice(from, to + 1).join(" "))}”`, SPAN_LABELS[kind]].filter(Boolean).join(" ");

const STRIP = 520; // the width of a strip; narrow screens squeeze it

// Spans of a text that is not known: strips of what is right, wrong and missed at their positions, above the list of answers.
export function stripParts(itemSet, item) {
  const { first, last, gold } = item.answers, parts = answerParts(itemSet, item);
  const low = Math.min(...first), high = Math.max(...last) + 1;
  const x = position => 1 + ((STRIP - 2) * (position - low)) / (high - low);
  const drawn = kind => n => svg("rect", { class: kind, x: x(first[n]), y: { right: 1, wrong: 7, missed: 13 }[kind], rx: 1,
    width: Math.max(2, x(last[n] + 1) - x(first[n])), height: 5 });
  const strip = (right, wrong, missed) => svg("svg", { class: "strip", viewBox: `0 0 ${STRIP} 19`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("line", { x1: 1, x2: STRIP - 1, y1: 9.5, y2: 9.5 }), right.map(drawn("right")), wrong.map(drawn("wrong")), missed.map(drawn("missed")));
  const above = (content, cells) => {
    const { right, wrong, missed } = judgeAnswers(item, content);
    return [[strip(right, wrong, missed), ...cells]];
  };
  return { ...parts, golds: [["gold", [[strip(range(gold), [], []), ...parts.golds[0][1]]]]], 
    cells: ({ content }) => above(content, parts.cells({ content })) };
}

const DIFF_CELLS = 4e6; // of the table of a longest common subsequence: 2,000 words on either side
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const WORD_PATTERN = new RegExp(`\\s+|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}'’_-])+|(?:(?!\\s|(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}'’_-]).)+`, "gsu");
const graphemesOf = window.Intl?.Segmenter ? new Intl.Segmenter(undefined, { granularity: "grapheme" }) : null;

const givenSource = ([source]) => source === "gold source"; // what systems were given

// What responses can be compared with: references, the nearest of these or one of them, the first of two systems, or nothing.
export function textBases(itemSet) {
  const references = [...new Set(itemSet.items.flatMap(({ gold }) => gold.filter(one => !givenSource(one)).map(([source]) => source)))];
  const several = itemSet.items.some(item => referencesOf(item).length > 1);
  return [["", several ? "the nearest reference" : "the reference"], ...(several ? references.map(source => [source, goldLabel(source)]) : []),
    ["first", "the first of two systems"], ["none", "nothing"]];
}

const referencesOf = ({ gold }) => [...new Set(gold.filter(one => !givenSource(one)).map(([, text]) => text))];

export function textParts(_, item, _responses, chosen) {
  const golds = new Map(); // what systems were given comes first
  for (const [source, text] of [...item.gold].sort((a, b) => Number(givenSource(b)) - Number(givenSource(a)))) {
    golds.set(text, [...(golds.get(text) ?? []), goldLabel(source)]);
  }
  const chosenReference = item.gold.find(([source]) => source === view.diff);
  const compared = view.diff === "none" ? [] : view.diff !== "first" ? (chosenReference ? [chosenReference[1]] : referencesOf(item))
    : chosen.length === 2 ? [item.responses[responseOf(item, chosen[0])].content].filter(text => text != null) : [];
  const cell = content => {
    if (content == null) return el("i", {}, "no response");
    if (!compared.length || compared.includes(content)) return runningText(harmless(content));
    const { steps, base } = compared.map(text => ({ base: text, steps: wordSteps(text, content) })).sort((a, b) => countEdits(a) - countEdits(b))[0];
    const what = steps ? (compared.length > 1 ? `against ${(golds.get(base) ?? []).join(", ")}` : "") : "too long to be compared word by word";
    return [runningText(steps ? joinEdits(steps) : harmless(content)), what ? el("p", { class: "quiet" }, visible(what)) : null];
  };
  return { titles: ["response"], golds: [...golds].map(([text, sources]) => [sources.join(", "), [runningText(harmless(text))]]),
    cells: ({ content }) => [cell(content)] };
}

const countEdits = ({ steps }) => (steps ? steps.filter(([kind]) => kind !== "same").length : Infinity);

// The words of a text, each with the blanks after it; where a script has no blanks, its characters.
function splitWords(text) {
  const found = /** @type {{ word: string, after: string }[]} */ ([]);
  for (const [part] of text.matchAll(WORD_PATTERN)) {
    const one = /^[\p{L}\p{M}\p{N}'’_-]/u.test(part) && !new RegExp(`[${UNSPACED}]`, "u").test(part);
    if (/^\s/.test(part)) {
      if (found.length) found[found.length - 1].after = " ";
    } else {
      const words = one ? [part] : graphemesOf ? [...graphemesOf.segment(part)].map(({ segment }) => segment) : [...part];
      found.push(...words.map(word => ({ word, after: "" })));
    }
  }
  return found;
}

// The words of the text `to` and the words of `from` that it lacks, each with its edit; null if there are too many.
export function wordSteps(from, to) {
  const a = splitWords(from), b = splitWords(to);
  let start = 0, end = 0;
  while (start < Math.min(a.length, b.length) && a[start].word === b[start].word) start++;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end].word === b[b.length - 1 - end].word) end++;
  const inA = a.slice(start, a.length - end), inB = b.slice(start, b.length - end), same = word => ["same", word];
  if ((inA.length + 1) * (inB.length + 1) > DIFF_CELLS) return null;
  return [...b.slice(0, start).map(same), ...wordEdits(inA, inB), ...b.slice(b.length - end).map(same)];
}

// The edits that lead from one list of words to another: what is lacking comes before what is added.
function wordEdits(a, b) {
  const width = b.length + 1, common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i].word === b[j].word ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const found = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i].word === b[j].word) {
      found.push(["same", b[j++]]);
      i++;
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      found.push(["del", a[i++]]);
    } else found.push(["ins", b[j++]]);
  }
  return found;
}

// Runs of the same kind of edit as one element each; words of scripts with blanks do not run into each other.
function joinEdits(steps) {
  const nodes = [], spaced = new RegExp(`(?![${UNSPACED}])[\\p{L}\\p{N}]`, "u");
  let last = "";
  for (let n = 0; n < steps.length;) {
    const [kind] = steps[n], words = [];
    while (n < steps.length && steps[n][0] === kind) words.push(steps[n++][1]);
    const text = words.map(({ word, after }) => word + after).join("");
    if (spaced.test(last.slice(-1)) && spaced.test(text[0])) nodes.push(" ");
    nodes.push(kind === "same" ? harmless(text) : el(kind, {}, harmless(text.trimEnd())));
    if (kind !== "same" && text.endsWith(" ")) nodes.push(" ");
    last = text;
  }
  return nodes;
}
