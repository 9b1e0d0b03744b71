// @ts-check
// The index of a site: tasks are searched by their texts or their systems and put in order; the address keeps both.

import { byId } from "./dom.js";
import { visible } from "./values.js";

/** @type {Record<string, string[]>} */
const names = JSON.parse(byId("names").textContent);
const MENTIONED = 5; // matching systems of a task that are named

const normalize = text => text.normalize("NFKC").toLowerCase();

const tasks = [...byId("tasks").children].map((/** @type {any} */ row, place) => ({
  row, place, text: normalize(row.textContent), title: row.querySelector("h3").textContent, has: row.querySelector(".has"),
  page: row.querySelector("h3 a").getAttribute("href"), systems: (Object.hasOwn(names, row.dataset.task) ? names[row.dataset.task] : [])
    .map(name => [name, normalize(name)]),
}));
const byText = new Intl.Collator("en", { numeric: true });
/** @type {Record<string, (a: any, b: any) => number>} */
const ORDERS = {
  "": (a, b) => a.place - b.place,
  held: (a, b) => byText.compare(b.row.dataset.held, a.row.dataset.held) || a.place - b.place,
  systems: (a, b) => b.row.dataset.systems - a.row.dataset.systems || a.place - b.place,
  items: (a, b) => b.row.dataset.items - a.row.dataset.items || a.place - b.place,
  title: (a, b) => byText.compare(a.title, b.title) || a.place - b.place,
};

// Names the systems that match, with links to their places on the task's page.
function nameMatches(task, found) {
  const links = found.slice(0, MENTIONED).flatMap(([name], n) => {
    const link = document.createElement("a"), text = document.createElement("bdi");
    link.href = `${task.page}#${new URLSearchParams({ system: name })}`;
    text.append(visible(name));
    link.append(text);
    return [n ? ", " : "", link];
  });
  const more = found.length - MENTIONED;
  task.has.replaceChildren(...(links.length ? ["Has ", ...links, more > 0 ? ` and ${more} more` : ""] : []));
  task.has.hidden = !links.length;
}

// Shows the tasks that have each word in their texts or in the name of one of their systems.
function search() {
  const words = normalize(byId("filter").value).split(/\s+/).filter(Boolean);
  let n = 0;
  for (const task of tasks) {
    const sought = words.filter(word => !task.text.includes(word));
    const found = sought.length ? task.systems.filter(([, name]) => sought.every(word => name.includes(word))) : [];
    const there = !sought.length || found.length > 0;
    task.row.hidden = !there;
    nameMatches(task, there ? found : []);
    n += Number(there);
  }
  byId("found").textContent = words.length ? `${n} of ${tasks.length} tasks` : "";
}

function order() {
  byId("tasks").append(...[...tasks].sort(ORDERS[byId("order").value]).map(({ row }) => row));
}

function keepView() {
  const view = Object.entries({ filter: byId("filter").value, order: byId("order").value }).filter(([, value]) => value);
  try {
    history.replaceState(null, "", `#${new URLSearchParams(view)}`);
  } catch {
    // Some browsers refuse frequent calls, as fast typing makes them; the next change writes the whole view.
  }
}

function readView() {
  if (/^#[^=]+$/.test(location.hash)) return; // a link to a part of the page
  const view = new URLSearchParams(location.hash.slice(1));
  byId("filter").value = view.get("filter") ?? "";
  byId("order").value = Object.hasOwn(ORDERS, view.get("order") ?? "") ? view.get("order") ?? "" : "";
  search();
  if (byId("order").value) order();
}

byId("filter").addEventListener("input", () => { search(); keepView(); });
byId("order").addEventListener("change", () => { order(); keepView(); });
byId("controls").addEventListener("submit", event => event.preventDefault());
addEventListener("hashchange", readView);
document.documentElement.classList.add("draws");
readView();
