// @ts-check
// Elements, tables and the tooltip.

import { visible } from "./values.js";

const LONG_NAME = 16; // characters from which on a name may break after its parts

/**
 * An element of the page's template, which has them all.
 * @param {string} id
 * @returns {any}
 */
export const byId = id => document.getElementById(id);

/**
 * @template {Element} T
 * @param {T} node
 * @param {Record<string, any>} attributes true is an attribute without a value; false and null leave it out
 * @param {any[]} children null and undefined are left out
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter(child => child != null));
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 */
export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 */
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/**
 * A signature that can break after each of its fields.
 * @param {string} text
 */
export const breakable = text => visible(text).split("|").flatMap((part, n) => (n ? ["|", el("wbr"), part] : [part]));

/**
 * A name; a long one can break after its parts.
 * @param {string} text
 */
export const nameElement = text => el("bdi", {}, text.length < LONG_NAME ? visible(text)
  : visible(text).split(/(?<=[._/])(?=\w)/).flatMap((part, n) => (n ? [el("wbr"), part] : [part])));

/** @param {...any} children */
export const runningText = (...children) => el("div", { class: "running", dir: "auto" }, children);

/**
 * Shows the page's one tooltip next to what it explains.
 * @param {Node[]} content
 * @param {Element} anchor
 * @param {Element} [owner] the element that the tooltip describes
 */
export function showTip(content, anchor, owner) {
  hideTip();
  const tip = byId("tip");
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = anchor.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2),
    document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = box.top - tip.offsetHeight - 8;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(above > 0 ? above : box.bottom + 8) + scrollY}px`;
  if (owner) owner.setAttribute("aria-describedby", "tip");
}

export function hideTip() {
  byId("tip").hidden = true;
  for (const owner of document.querySelectorAll('[aria-describedby="tip"]')) owner.removeAttribute("aria-describedby");
}

/** @param {string[]} lines the first one is the tooltip's title */
export const tipLines = lines => lines.map((line, n) => el(n ? "div" : "strong", {}, line));

/**
 * A column of a plain table.
 * @param {import("./types").Cell} heading
 * @param {(row: any) => import("./types").Cell} cell
 * @param {Partial<import("./types").TableColumn>} [options]
 * @returns {import("./types").TableColumn}
 */
export const column = (heading, cell, options = {}) => ({ heading, cell, ...options });

/**
 * A column of numbers, which are aligned on the right.
 * @param {import("./types").Cell} heading
 * @param {(row: any) => import("./types").Cell} cell
 * @param {Partial<import("./types").TableColumn>} [options]
 */
export const numberColumn = (heading, cell, options = {}) => column(heading, cell, { right: true, ...options });

/**
 * The cells of a row; those of a header column name it.
 * @param {import("./types").TableColumn[]} columns
 * @param {any} row
 */
export const rowCells = (columns, row) => columns.map(({ cell, right, isHeader, class: name }) => (isHeader
  ? el("th", { scope: "row" }, cell(row)) : el("td", { class: name ?? (right && "right") }, cell(row))));

/**
 * A table whose rows are in groups, each with a title.
 * @param {import("./types").TableColumn[]} columns
 * @param {[string, any[]][]} groups
 * @param {Record<string, any>} [attributes]
 */
export function groupedTable(columns, groups, attributes = {}) {
  const shown = columns.filter(({ isShown = true }) => isShown);
  return el("table", { class: "plain", ...attributes },
    el("thead", {}, el("tr", {}, shown.map(({ heading, right }) =>
      (heading ? el("th", { scope: "col", class: right && "right" }, heading) : el("td"))))),
    groups.map(([title, rows]) => el("tbody", {},
      title ? el("tr", { class: "group" }, el("th", { scope: "rowgroup", colspan: shown.length }, title)) : null,
      rows.map(row => el("tr", {}, rowCells(shown, row))))));
}

/**
 * @param {import("./types").TableColumn[]} columns
 * @param {any[]} rows
 * @param {Record<string, any>} [attributes]
 */
export const tableOf = (columns, rows, attributes) => groupedTable(columns, [["", rows]], attributes);

/**
 * A table in a region that scrolls.
 * @param {string} label
 * @param {Node} table
 * @param {boolean} [tall] true limits the height
 */
export const scrollable = (label, table, tall = false) =>
  el("div", { class: tall ? "wide tall" : "wide", role: "region", tabindex: 0, "aria-label": label }, table);

/**
 * @param {string} label
 * @param {string[][]} options values and texts
 * @param {string} selected
 * @param {(value: string) => void} change
 */
export function selectOf(label, options, selected, change) {
  const id = `choose-${label.replace(/\W+/g, "-").toLowerCase()}`;
  const select = el("select", { id }, options.map(([value, text]) =>
    el("option", { value, selected: value === selected }, visible(text))));
  select.addEventListener("change", () => change(select.value));
  return el("span", {}, el("label", { for: id }, label), " ", select);
}

/** @param {() => void} action runs after the next paint */
export const afterPaint = action => requestAnimationFrame(() => setTimeout(action));
