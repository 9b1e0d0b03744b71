// @ts-check
// Columns of values, and texts that are safe to show or to save.

/**
 * A row's value of a column, which is a list or the one value of all rows.
 * @param {any} column
 * @param {number} row
 */
export const cellAt = (column, row) => (Array.isArray(column) ? column[row] : column);

/** @param {number} n */
export const range = n => Array.from({ length: n }, (_, i) => i);

/**
 * Writes out control characters and marks that turn the direction of text; `<bdi>` confines the rest.
 * @param {string} text
 */
export const visible = text => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, escapeCharacter);

/**
 * Texts of items as they are, except for characters that control a terminal or turn the direction of text.
 * @param {string} text
 */
export const harmless = text => text.replace(
  /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
  c => (c === "\n" || c === "\t" ? c : escapeCharacter(c)));

/** @param {string} c */
const escapeCharacter = c => `\\u${(/** @type {number} */ (c.codePointAt(0))).toString(16).padStart(4, "0")}`;

/**
 * Puts an apostrophe before a text that a spreadsheet would compute as a formula, as registry/rendering does.
 * @param {string} text
 */
function guardFormula(text) {
  const isNumber = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text);
  return /^"*[=+\-@\t\r]/.test(text) && !isNumber ? `'${text}` : text;
}

/**
 * @param {any} value
 * @returns {string}
 */
export function csvCell(value) {
  if (Array.isArray(value)) return csvCell(value.join("; "));
  const text = value == null ? "" : typeof value === "string" ? guardFormula(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
