(() => {
  // registry/reports/page/scripts/values.js
  var visible = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, escapeCharacter);
  var escapeCharacter = (c) => `\\u${/** @type {number} */
  c.codePointAt(0).toString(16).padStart(4, "0")}`;

  // registry/reports/page/scripts/dom.js
  var byId = (id) => document.getElementById(id);

  // registry/reports/page/scripts/site.js
  var names = JSON.parse(byId("names").textContent);
  var MENTIONED = 5;
  var normalize = (text) => text.normalize("NFKC").toLowerCase();
  var tasks = [...byId("tasks").children].map((row, place) => ({
    row,
    place,
    text: normalize(row.textContent),
    title: row.querySelector("h3").textContent,
    has: row.querySelector(".has"),
    page: row.querySelector("h3 a").getAttribute("href"),
    systems: (Object.hasOwn(names, row.dataset.task) ? names[row.dataset.task] : []).map((name) => [name, normalize(name)])
  }));
  var byText = new Intl.Collator("en", { numeric: true });
  var ORDERS = {
    "": (a, b) => a.place - b.place,
    held: (a, b) => byText.compare(b.row.dataset.held, a.row.dataset.held) || a.place - b.place,
    systems: (a, b) => b.row.dataset.systems - a.row.dataset.systems || a.place - b.place,
    items: (a, b) => b.row.dataset.items - a.row.dataset.items || a.place - b.place,
    title: (a, b) => byText.compare(a.title, b.title) || a.place - b.place
  };
  function nameMatches(task, found) {
    const links = found.slice(0, MENTIONED).flatMap(([name], n) => {
      const link = document.createElement("a"), text = document.createElement("bdi");
      link.href = `${task.page}#${new URLSearchParams({ system: name })}`;
      text.append(visible(name));
      link.append(text);
      return [n ? ", " : "", link];
    });
    const more = found.length - MENTIONED;
    task.has.replaceChildren(...links.length ? ["Has ", ...links, more > 0 ? ` and ${more} more` : ""] : []);
    task.has.hidden = !links.length;
  }
  function search() {
    const words = normalize(byId("filter").value).split(/\s+/).filter(Boolean);
    let n = 0;
    for (const task of tasks) {
      const sought = words.filter((word) => !task.text.includes(word));
      const found = sought.length ? task.systems.filter(([, name]) => sought.every((word) => name.includes(word))) : [];
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
    }
  }
  function readView() {
    if (/^#[^=]+$/.test(location.hash)) return;
    const view = new URLSearchParams(location.hash.slice(1));
    byId("filter").value = view.get("filter") ?? "";
    byId("order").value = Object.hasOwn(ORDERS, view.get("order") ?? "") ? view.get("order") ?? "" : "";
    search();
    if (byId("order").value) order();
  }
  byId("filter").addEventListener("input", () => {
    search();
    keepView();
  });
  byId("order").addEventListener("change", () => {
    order();
    keepView();
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", readView);
  document.documentElement.classList.add("draws");
  readView();
})();
