// A document with just enough of a browser's to load the page's modules in node; elements keep what they are given.

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, children: [], style: {}, hidden: false, textContent: "" });
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }

  append(...children) {
    this.children.push(...children);
  }
}

export function installDocument(data) {
  const json = Object.assign(new Element("script"), { textContent: JSON.stringify(data) });
  globalThis.window = globalThis;
  globalThis.innerWidth = 1200;
  globalThis.document = {
    title: "A page", createElement: tag => new Element(tag), createElementNS: (_, tag) => new Element(tag),
    getElementById: id => (id === "data" ? json : new Element(id)),
  };
}

/** The page's data: two systems by accuracy, `a` better than `b` with p = 1/32. */
export function pageData(changes = {}) {
  const standings = { rank: [1, 2], system: ["a", "b"], shown: ["a", "b"], team: ["x", "y"], submission: ["x/a@1", "y/b@1"],
    score: [0.75, 0.5], printed: ["0.7500", "0.5000"], interval: "", ci_low: null, ci_high: null, late: false, kind: "primary",
    in_cluster: [1, 2], letters: "" };
  const pairs = { reach: null, difference: [0.25], ci_low: [0.03125], ci_high: null, p_value: [0.03125], p_adjusted: [0.0625],
    n_discordant: [1], method: ["exact"], resolved: [true], messages: [""], significant: "0" };
  const board = { task: "t", test_set: "test", track: null, facet: null, metric: "acc", signature: "s", title: "t/test",
    metric_label: "acc", decimals: 4, better: "higher", alpha: 0.05, confidence: 0.95, corrected: true, unit: "item", n: 2, n_items: 5,
    columns: ["rank", "system", "score"], headings: { score: "acc" }, standings, numbers: {}, undecided: [1, 1], n_pairs: 1, pairs,
    warnings: [], sentences: [], methods: "", latex: null, files: null, ...changes };
  const heading = (name, right) => [name, { heading: name, right }];
  return {
    task: { id: "t", title: "t", version: "1", cost_unit: null }, keys: ["system", "score"],
    columns: { board: Object.fromEntries([heading("rank", true), heading("system", false), heading("score", true)]),
      pairs: Object.fromEntries([heading("interval", true)]) },
    boards: [board], systems: { of: {}, left_out: 0 },
    details: { n: 2, team: ["x", "y"], system: ["a", "b"], names: ["a", "b"] }, confusions: {}, histories: {}, items: {}, wide: [],
  };
}
