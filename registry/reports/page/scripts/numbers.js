// @ts-check
// Numbers as people read them. The rules are those of Python: registry/rendering/numbers.json, which both read.

import RULES from "../../../rendering/numbers.json" with { type: "json" };
import { range } from "./values.js";

/** Decimals of scores and differences of the selected leaderboard. */
let decimals = RULES.decimals;

/** @param {number} count */
export function setDecimals(count) {
  decimals = count;
}

/**
 * Rounds to a number of decimals as Python does: a tie goes to the even digit, which `toFixed` rounds up. No minus sign is
 * before 0.00.
 *
 * A number is a tie if its double is an odd multiple of half a unit of the last digit, and so of 2 ** -(digits + 1).
 * @param {number} value
 * @param {number} digits
 */
function round(value, digits) {
  const text = value.toFixed(digits);
  const isTie = Math.abs(value) * 2 ** (digits + 1) % 2 === 1;
  const last = Number(text.at(-1));
  const rounded = isTie && last % 2 ? text.slice(0, -1) + (last - 1) : text;
  return Number(rounded) === 0 ? rounded.replace("-", "") : rounded;
}

/** @param {string} text */
export const withMinus = text => text.replaceAll("-", "−");

/**
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export const fixed = (value, digits = decimals) => (value == null ? RULES.undefined : withMinus(round(value, digits)));

/**
 * @param {number} value
 * @param {number} [digits]
 */
export const signed = (value, digits) => (value > 0 ? "+" : "") + fixed(value, digits);

/** @param {number} share */
export const percent = share => `${round(100 * share, RULES.percentDecimals)}\u00a0%`;

/**
 * Writes a p-value so that it is never rounded to 0 or 1.
 * @param {number | null | undefined} p
 */
export function pValue(p) {
  const rules = RULES.pValue;
  if (p == null) return RULES.undefined;
  if (p === 0) return rules.zero;
  if (p === 1) return rules.one;
  if (p < rules.scientificBelow) return p.toExponential(rules.scientificDigits).replace(/e-(\d)$/, "e-0$1");
  if (p < rules.preciseFrom) return round(p, rules.decimals);
  const text = p.toPrecision(rules.preciseDigits);
  return Number(text) === 1 ? rules.almostOne : text;
}

/**
 * Writes a p-value for a narrow cell; it is never rounded to 0 or 1.
 * @param {number | null | undefined} p
 */
export function shortPValue(p) {
  if (p == null || p === 1) return p == null ? "–" : "1";
  return p < 0.001 ? "<.001" : p >= 0.9995 ? ">.999" : round(p, 3).slice(1);
}

/**
 * A number with its noun in the singular or plural.
 * @param {number} n
 * @param {string} one
 * @param {string} [more]
 */
export const counted = (n, one, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

/** @param {number | null | undefined} value */
export const plainNumber = value =>
  (value == null ? RULES.undefined : String(Number(value.toPrecision(6))).replace("-", "−"));

/**
 * Round numbers between two ends, at most about as many as `wanted`.
 * @param {number} low
 * @param {number} high
 * @param {number} wanted
 */
export function roundTicks(low, high, wanted) {
  const span = high - low, unit = 10 ** Math.floor(Math.log10(span / wanted));
  const step = (/** @type {number} */ ([1, 2, 5, 10].find(n => span / (unit * n) <= wanted))) * unit;
  const first = Math.ceil(low / step - 1e-9);
  return range(Math.max(0, Math.floor(high / step + 1e-9) - first + 1)).map(n => +((first + n) * step).toPrecision(12));
}

/**
 * The number of decimals of the labels of such ticks, the same for all.
 * @param {number[]} ticks
 */
export const tickDecimals = ([one, next]) =>
  (next > one ? Math.min(12, Math.max(0, Math.ceil(-Math.log10(next - one) - 1e-9))) : 4);

/**
 * Times in UTC, as short as distinguishes them: days, minutes or seconds.
 * @param {number[]} seconds
 */
export function formatDates(seconds) {
  const full = seconds.map(second => new Date(second * 1000).toISOString().replace("T", " "));
  const length = [10, 16].find(long => new Set(full.map(text => text.slice(0, long))).size === full.length) ?? 19;
  return full.map(text => text.slice(0, length));
}
