// Two systems side by side: their difference by every metric, and the answers that only one of them gives (Evert 2004).

// Draw again, and keep the focus on the control that was used.
function again(draws) {
  const focused = document.activeElement.id;
  draws();
  if (focused) byId(focused)?.focus();
}

// Choose one of two systems, or both.
function chooseTwo(board, changes) {
  setView(changes);
  again(() => {
    drawVersus(board);
    drawItems(board);
  });
}

function drawVersus(board) {
  byId("versus").hidden = board.n < 2;
  if (board.n < 2) return;
  const options = [["", "no system"], ...range(board.n).map(place => {
    const name = nameOf(numberIn(board.standings, place));
    return [name, name];
  })];
  byId("versus-bar").replaceChildren(...[["First system", "a"], ["Second system", "b"]].map(([label, side]) =>
    selectOf(label, options, view[side], value => chooseTwo(board, { [side]: value }))));
  const two = [called.get(view.a), called.get(view.b)];
  const both = two.every(n => n !== undefined && placeOn(board, n) !== undefined) && two[0] !== two[1];
  byId("versus").classList.toggle("unprinted", !both);
  byId("versus-body").replaceChildren(...(both ? [bySide(board, ...two), ...regionsOf(board, ...two), differing(board)]
    : [el("p", { class: "quiet" }, "Choose two systems: their difference by every metric, and the answers that only one of them gives.")])
    .filter(node => node != null));
}

// The scores and the difference of two systems on every leaderboard that both are on.
function bySide(board, a, b) {
  const boards = data.boards.filter(of => (of.track ?? "") === (board.track ?? "") &&
    placeOn(of, a) !== undefined && placeOn(of, b) !== undefined);
  const rows = boards.map(of => {
    const i = placeOn(of, a), j = placeOn(of, b), all = pairsKept(of);
    return { of, i, j, there: all?.of(i, j) !== undefined && pairFigures(of, all, i, j) };
  });
  const score = (of, place) => printed(at(of.standings.printed, place));
  const facets = boards.some(of => of.facet != null), sets = new Set(boards.map(of => of.test_set)).size > 1;
  return scrolled("Difference of the two systems", tableOf([
    ["test set", false, ({ of }) => visible(of.test_set), sets],
    ["facet", false, ({ of }) => (of.facet == null ? whole.facet : visible(of.facet)), facets],
    ["metric", false, ({ of }) => el("a", { href: hrefWith(viewOf(of)) }, visible(of.metric))],
    [named(nameOf(a)), true, ({ of, i }) => score(of, i)], [named(nameOf(b)), true, ({ of, j }) => score(of, j)],
    ["difference", true, ({ there }) => (there ? there.difference : "not on this page")],
    ["interval", true, ({ of, there }) => (there?.interval ? `${there.interval} (${100 * of.confidence} %)` : ""),
      rows.some(({ there }) => there?.interval)],
    ["p", true, ({ there }) => (there ? there.p : "")],
    ["adjusted p", true, ({ there }) => (there ? there.adjusted : ""), boards.some(of => of.corrected)],
    ["significantly better", false, ({ there, i, j }) => (!there ? "" : !there.significant ? "neither" : named(nameOf(i < j ? a : b)))],
    ["note", false, ({ there }) => (there ? el("span", { class: "said" }, visible(there.notes.join(". "))) : ""), rows.some(({ there }) => there?.notes?.length)],
  ], rows, "metric", { id: "versus-metrics" }));
}

// The answers that only the first gives (D1), only the second (D2), and both, as they are right or wrong.
function regionsOf(board, a, b) {
  const of = data.details.regions[board.test_set];
  if (!of) return [];
  const k = of.a.findIndex((first, n) => (first === a && of.b[n] === b) || (first === b && of.b[n] === a));
  const title = el("h3", {}, "Answers of one and of both");
  if (k < 0) {
    return [title, el("p", { class: "quiet" }, "This page counts the answers of systems next to each other on the leaderboard, and of each and " +
      "the best one. For any other two, ask the macro ", el("code", {}, "regions"), " by ", el("code", {}, "registry query"), ".")];
  }
  const counts = name => [at(of[`${name}_tp`], k), at(of[`${name}_fp`], k)];
  const [d1, d2] = of.a[k] === a ? ["d1", "d2"] : ["d2", "d1"];
  const rows = [[["only ", named(nameOf(a)), " (D1)"], ...counts(d1)], [["only ", named(nameOf(b)), " (D2)"], ...counts(d2)],
    [["both"], ...counts("shared")]];
  const most = Math.max(1, ...rows.map(([, right, wrong]) => right + wrong));
  const count = n => (Number.isInteger(n) ? n.toLocaleString("en") : n.toFixed(1));
  return [title,
    el("p", { class: "quiet" }, `On all items of ${visible(board.test_set)}, whose gold has ${many(of.gold, "answer")}. What both give says nothing of which is better.`),
    scrolled("Answers that one or both give", tableOf([
      ["given by", false, ([who]) => who], ["answers", true, ([, right, wrong]) => count(right + wrong)],
      ["right", true, ([, right]) => count(right)], ["wrong", true, ([, , wrong]) => count(wrong)],
      ["right of these", true, ([, right, wrong]) => (right + wrong ? `${((100 * right) / (right + wrong)).toFixed(1)} %` : "–")],
      ["", false, ([, right, wrong]) => barOf(right, wrong, most)],
    ], rows, "given by", { id: "regions" }))];
}

// A bar of what is right and what is wrong, the longest of all 160 wide.
const barOf = (right, wrong, most) => svg("svg", { class: "stacked", width: 160, height: 10, "aria-hidden": "true" },
  svg("rect", { class: "won", x: 0, y: 0, width: (160 * right) / most, height: 10 }),
  svg("rect", { class: "lost", x: (160 * right) / most, y: 0, width: (160 * wrong) / most, height: 10 }));

// On how many of the items below the two differ.
function differing(board) {
  const of = itemsOf(board);
  if (!of?.items.length) return null;
  const chosen = chosenRuns(of), n = of.items.filter(item => partsBoth(item, chosen)).length;
  const button = el("button", { type: "button" }, "Show these");
  button.addEventListener("click", () => {
    byId("items-heading").scrollIntoView();
    byId("items-heading").focus({ preventScroll: true });
  });
  return el("p", {}, `Of ${of.items.length === 1 ? "the item" : `the ${of.items.length} items`} below they answer ${n} differently. `,
    n ? button : null);
}
