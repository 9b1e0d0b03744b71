// Dependency trees: a table of the words on whose arcs somebody differs from the gold, and on demand a tree above the gold's.

function treeParts(of, item, responses) {
  const { head, word, sure } = item.answers;
  const arc = n => ({ word: word[n], head: head[n], type: harmless(typeOfAnswer(item, n)) });
  const gold = new Map(range(sure).map(arc).map(one => [one.word, one]));
  const trees = new Map(responses.map(response => [response, treeOf(response.said, arc, gold)]));
  const differing = [...gold.keys()].filter(place => responses.some(response => trees.get(response).lacking.has(place)));
  const further = responses.some(response => trees.get(response).further.length);
  const figure = el("div", {});
  const action = response => {
    const button = el("button", { type: "button", class: "small", "aria-label": `draw the tree of ${visible(of.names[response.by[0]])}` }, "tree");
    button.addEventListener("click", () => {
      figure.replaceChildren(treeFigure(of, item, response, trees.get(response), gold));
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
    golds: [["gold", [...differing.map(place => arcOf(item, gold.get(place))), ...(further ? [""] : [])]]],
    cells: response => cellsOf(trees.get(response)), action,
    before: runningText(el("p", { class: "sentence" }, harmless(item.tokens.join(" ")))), after: figure };
}

// A response's arcs by their words, where it differs from the gold: those that the gold does not have, which of the
// gold's words have another one or none, and arcs of words that the gold does not have.
function treeOf([added, lacking], arc, gold) {
  const arcs = added.map(arc);
  return { lacking: new Set([...lacking.map(arc), ...arcs].map(({ word }) => word).filter(word => gold.has(word))), further: arcs.filter(({ word }) => !gold.has(word)),
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
function treeFigure(of, item, response, tree, gold) {
  const arcs = [...gold.values()].map(one => (tree.lacking.has(one.word) ? tree.own.get(one.word) : one)).filter(Boolean);
  const drawn = arcs.filter(({ head }) => typeof head === "number");
  const differs = one => tree.lacking.has(one.word);
  const places = wordPlaces(item.tokens, [...drawn, ...gold.values()]);
  const above = arcLevels(drawn), below = arcLevels([...gold.values()]);
  const rise = 18 * (1 + Math.max(1, ...above.values())), fall = 18 * (1 + Math.max(1, ...below.values()));
  const width = places.at(-1) + 60, base = rise + 6, lower = base + 26;
  const draw = (one, level, up) => arcPath(one, level, { x: places, y: up ? base : lower, sign: up ? -1 : 1, differs: differs(one), up });
  const wrong = tree.lacking.size, name = visible(of.names[response.by[0]]);
  return el("figure", { class: width > PAPER ? "tree beyond-paper" : "tree", tabindex: -1 },
    el("figcaption", {}, el("b", {}, named(of.names[response.by[0]])), el("span", { class: "of-drawing" }, " above the words, the gold below"),
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
  const pen = document.createElement("canvas").getContext("2d");
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
