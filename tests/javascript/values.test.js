// Numbers, texts and cells: modules that need no page.

import assert from "node:assert/strict";
import test from "node:test";

import { counted, fixed, formatDates, percent, plainNumber, pValue, roundTicks, shortPValue, signed, tickDecimals } from
  "../../registry/reports/page/scripts/numbers.js";
import { cellAt, csvCell, harmless, visible } from "../../registry/reports/page/scripts/values.js";

test("ties are rounded to the even digit", () => {
  assert.equal(fixed(0.03125, 4), "0.0312");
  assert.equal(fixed(0.09375, 4), "0.0938");
  assert.equal(fixed(-0.125, 2), "−0.12");
  assert.equal(fixed(2.5, 0), "2");
  assert.equal(fixed(-0.00001, 4), "0.0000", "zero has no sign");
  assert.equal(fixed(0.00005, 4), "0.0001", "its double is above the tie");
  assert.equal(fixed(null), "n/a");
});

test("signs, shares and counts", () => {
  assert.equal(signed(0.25, 2), "+0.25");
  assert.equal(signed(-0.25, 2), "−0.25");
  assert.equal(percent(1 / 3), "33.3\u00a0%");
  assert.equal(counted(1, "system"), "1 system");
  assert.equal(counted(2000, "system"), "2,000 systems");
  assert.equal(plainNumber(-1234.5678), "−1234.57");
});

test("p-values are never rounded to 0 or 1", () => {
  assert.deepEqual([null, 1, 0, 3e-200, 0.0000123, 0.04996, 0.99999, 0.9999999].map(pValue),
    ["n/a", "1", "<1e-323", "3.0e-200", "1.2e-05", "0.0500", "0.99999", ">0.99999"]);
  assert.deepEqual([null, 1, 0.0001, 0.0405, 0.9996].map(shortPValue), ["–", "1", "<.001", ".041", ">.999"]);
});

test("ticks are round and their labels have as many decimals as they need", () => {
  assert.deepEqual(roundTicks(0, 0.1, 5), [0, 0.02, 0.04, 0.06, 0.08, 0.1]);
  assert.equal(tickDecimals([0, 0.02]), 2);
  assert.equal(tickDecimals([5]), 4);
});

test("dates are as short as distinguishes them", () => {
  assert.deepEqual(formatDates([0, 86400]), ["1970-01-01", "1970-01-02"]);
  assert.deepEqual(formatDates([0, 60]), ["1970-01-01 00:00", "1970-01-01 00:01"]);
  assert.deepEqual(formatDates([0, 1]), ["1970-01-01 00:00:00", "1970-01-01 00:00:01"]);
});

test("a column is a list or the one value of all rows", () => {
  assert.equal(cellAt(["a", "b"], 1), "b");
  assert.equal(cellAt("a", 1), "a");
});

test("texts cannot turn their direction or steer a terminal", () => {
  assert.equal(visible("a\u202eb\n"), "a\\u202eb\\u000a");
  assert.equal(harmless("a\u202eb\n\t\u0007"), "a\\u202eb\n\t\\u0007");
});

test("cells of CSV are quoted, and formulas guarded", () => {
  assert.equal(csvCell('say "yes", no'), '"say ""yes"", no"');
  assert.equal(csvCell("=1+1"), "'=1+1");
  assert.equal(csvCell("-0.5"), "-0.5");
  assert.equal(csvCell(["a", "b"]), "a; b");
  assert.equal(csvCell(null), "");
});
