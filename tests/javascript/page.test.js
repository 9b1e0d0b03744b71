// Modules of the page that compute: pairs, scales, order, fronts, edits. Loaded with a document that has the page's data.

import assert from "node:assert/strict";
import test from "node:test";

import { installDocument, pageData } from "./document.js";

installDocument(pageData());
const scripts = "../../registry/reports/page/scripts/";
const [state, pairs, plots, boards, listing, charts, texts] = await Promise.all(
  ["state", "pairs", "plots", "boards", "listing", "charts", "item-texts"].map(name => import(`${scripts}${name}.js`)));
const [board] = state.data.boards;

test("columns have the headings and alignment that Python gives", () => {
  const { columns } = boards.boardListing(board);
  assert.deepEqual(columns.map(({ name, heading, right }) => [name, heading, right]),
    [["rank", "rank", true], ["system", "system", false], ["score", "acc", true]]);
});

test("a pair is found in either order, and turned round with its interval", () => {
  const all = pairs.indexPairs(board);
  assert.equal(all.find(0, 1), 0);
  assert.equal(all.find(1, 0), 0);
  assert.deepEqual(pairs.pairFigures(board, all, 0, 1), { difference: "+0.2500", interval: "0.0312 to –", p: "0.0312",
    adjusted: "0.0625", significant: false, notes: [] });
  const turned = pairs.pairFigures(board, all, 1, 0);
  assert.deepEqual([turned.difference, turned.interval], ["−0.2500", "– to −0.0312"]);
});

test("raw p-values decide if the view asks for them", () => {
  const all = pairs.indexPairs(board);
  state.setView({ p: "raw" });
  assert.equal(all.significant(0), true);
  assert.ok(pairs.pairLines(board, all, 0, 1).includes("Significant without correction"));
  state.setView({ p: "adjusted" });
  assert.equal(all.significant(0), false);
});

test("packed columns are numbers of 24 bits, the largest one undefined", () => {
  const text = btoa(String.fromCharCode(0, 0, 7, 0xff, 0xff, 0xff));
  assert.deepEqual(pairs.unpack(text, code => code), [7, null]);
  assert.deepEqual(pairs.unpackColumn({ of: ["exact"], codes: null }), "exact");
  assert.deepEqual(pairs.unpackColumn({ decimals: 2, codes: btoa(String.fromCharCode(0x80, 0, 25)) }), [0.25]);
});

test("outliers do not set the scale", () => {
  assert.deepEqual(plots.fences([1, 1, 1, 1]), [-Infinity, Infinity]);
  const values = [0.5, 0.51, 0.52, 0.53, 0.54, -40].map(value => ({ value, low: null, high: null }));
  const scale = plots.scaleOver(values, 100);
  assert.deepEqual([scale.low, scale.high], [0.5, 0.54]);
  assert.match(scale.rule, /Tukey/);
  assert.equal(plots.scaleOver(values.slice(0, 5), 100).rule, null);
});

test("rows are sorted by a column, undefined values last in both directions", () => {
  const scores = [0.1, null, 0.3], column = { name: "score", heading: "score", descending: true, cell: String, value: n => scores[n] };
  const shown = { title: "", n: 3, columns: [column], first: column, kind: () => "", texts: () => [], sentences: [] };
  state.setView({ sort: "score" });
  assert.deepEqual(listing.orderOf(shown), [0, 2, 1]);
  state.setView({ sort: "-score" });
  assert.deepEqual(listing.orderOf(shown), [2, 0, 1]);
});

test("no system on the front is dominated by another one", () => {
  const standings = { score: [0.9, 0.8, 0.7], ci_low: null, ci_high: null };
  const front = charts.findFront({ ...board, n: 3, standings }, [10, 1, 5]);
  assert.deepEqual(front.map(({ n, dominatedBy }) => [n, dominatedBy?.n ?? null]), [[1, null], [2, 1], [0, null]]);
});

test("edits lead from a reference to a response, deletions first", () => {
  const steps = texts.wordSteps("the old house", "the new house");
  assert.deepEqual(steps.map(([kind, { word }]) => [kind, word]),
    [["same", "the"], ["del", "old"], ["ins", "new"], ["same", "house"]]);
});

test("the view keeps only what differs from the defaults", () => {
  state.setView({ sort: "rank", filter: "a b" });
  assert.equal(state.hrefWith({ metric: "p" }), "#metric=p&filter=a+b");
  state.setView({ filter: "" });
});
