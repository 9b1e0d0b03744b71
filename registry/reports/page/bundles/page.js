(() => {
  // registry/reports/page/scripts/values.js
  var cellAt = (column2, row) => Array.isArray(column2) ? column2[row] : column2;
  var range = (n) => Array.from({ length: n }, (_, i) => i);
  var visible = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, escapeCharacter);
  var harmless = (text) => text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (c) => c === "\n" || c === "	" ? c : escapeCharacter(c)
  );
  var escapeCharacter = (c) => `\\u${/** @type {number} */
  c.codePointAt(0).toString(16).padStart(4, "0")}`;
  function guardFormula(text) {
    const isNumber = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text);
    return /^"*[=+\-@\t\r]/.test(text) && !isNumber ? `'${text}` : text;
  }
  function csvCell(value) {
    if (Array.isArray(value)) return csvCell(value.map((one) => one?.code ?? one).join("; "));
    const text = value == null ? "" : typeof value === "string" ? guardFormula(value) : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // registry/reports/page/scripts/dom.js
  var LONG_NAME = 16;
  var byId = (id) => document.getElementById(id);
  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children.flat(Infinity).filter((child) => child != null));
    return node;
  }
  var el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  var svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  var breakable = (text) => visible(text).split("|").flatMap((part, n) => n ? ["|", el("wbr"), part] : [part]);
  var nameElement = (text) => el("bdi", {}, text.length < LONG_NAME ? visible(text) : visible(text).split(/(?<=[._/])(?=\w)/).flatMap((part, n) => n ? [el("wbr"), part] : [part]));
  var runningText = (...children) => el("div", { class: "running", dir: "auto" }, children);
  function showTip(content, anchor, owner) {
    hideTip();
    const tip = byId("tip");
    tip.replaceChildren(...content);
    tip.hidden = false;
    const box = anchor.getBoundingClientRect();
    const left = Math.min(
      Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2),
      document.documentElement.clientWidth - tip.offsetWidth - 8
    );
    const above = box.top - tip.offsetHeight - 8;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above > 0 ? above : box.bottom + 8) + scrollY}px`;
    if (owner) owner.setAttribute("aria-describedby", "tip");
  }
  function hideTip() {
    byId("tip").hidden = true;
    for (const owner of document.querySelectorAll('[aria-describedby="tip"]')) owner.removeAttribute("aria-describedby");
  }
  var tipLines = (lines) => lines.map((line, n) => el(n ? "div" : "strong", {}, line));
  var column = (heading, cell, options = {}) => ({ heading, cell, ...options });
  var numberColumn = (heading, cell, options = {}) => column(heading, cell, { right: true, ...options });
  var rowCells = (columns, row) => columns.map(({ cell, right, isHeader, class: name }) => isHeader ? el("th", { scope: "row" }, cell(row)) : el("td", { class: name ?? (right && "right") }, cell(row)));
  function groupedTable(columns, groups, attributes = {}) {
    const shown2 = columns.filter(({ isShown = true }) => isShown);
    return el(
      "table",
      { class: "plain", ...attributes },
      el("thead", {}, el("tr", {}, shown2.map(({ heading, right }) => heading ? el("th", { scope: "col", class: right && "right" }, heading) : el("td")))),
      groups.map(([title, rows2]) => el(
        "tbody",
        {},
        title ? el("tr", { class: "group" }, el("th", { scope: "rowgroup", colspan: shown2.length }, title)) : null,
        rows2.map((row) => el("tr", {}, rowCells(shown2, row)))
      ))
    );
  }
  var tableOf = (columns, rows2, attributes) => groupedTable(columns, [["", rows2]], attributes);
  var scrollable = (label, table, tall = false) => el("div", { class: tall ? "wide tall" : "wide", role: "region", tabindex: 0, "aria-label": label }, table);
  function selectOf(label, options, selected, change) {
    const id = `choose-${label.replace(/\W+/g, "-").toLowerCase()}`;
    const select = el("select", { id }, options.map(([value, text]) => el("option", { value, selected: value === selected }, visible(text))));
    select.addEventListener("change", () => change(select.value));
    return el("span", {}, el("label", { for: id }, label), " ", select);
  }
  var afterPaint = (action) => requestAnimationFrame(() => setTimeout(action));

  // registry/rendering/numbers.json
  var numbers_default = {
    decimals: 4,
    undefined: "n/a",
    percentDecimals: 1,
    pValue: {
      one: "1",
      zero: "<1e-323",
      scientificBelow: 1e-3,
      scientificDigits: 1,
      decimals: 4,
      preciseFrom: 0.99995,
      preciseDigits: 5,
      almostOne: ">0.99999"
    }
  };

  // registry/reports/page/scripts/numbers.js
  var decimals = numbers_default.decimals;
  function setDecimals(count) {
    decimals = count;
  }
  function round(value, digits) {
    const text = value.toFixed(digits);
    const isTie = Math.abs(value) * 2 ** (digits + 1) % 2 === 1;
    const last = Number(text.at(-1));
    const rounded = isTie && last % 2 ? text.slice(0, -1) + (last - 1) : text;
    return Number(rounded) === 0 ? rounded.replace("-", "") : rounded;
  }
  var withMinus = (text) => text.replaceAll("-", "−");
  var fixed = (value, digits = decimals) => value == null ? numbers_default.undefined : withMinus(round(value, digits));
  var signed = (value, digits) => (value > 0 ? "+" : "") + fixed(value, digits);
  var percent = (share) => `${round(100 * share, numbers_default.percentDecimals)} %`;
  function pValue(p) {
    const rules = numbers_default.pValue;
    if (p == null) return numbers_default.undefined;
    if (p === 0) return rules.zero;
    if (p === 1) return rules.one;
    if (p < rules.scientificBelow) return p.toExponential(rules.scientificDigits).replace(/e-(\d)$/, "e-0$1");
    if (p < rules.preciseFrom) return round(p, rules.decimals);
    const text = p.toPrecision(rules.preciseDigits);
    return Number(text) === 1 ? rules.almostOne : text;
  }
  function shortPValue(p) {
    if (p == null || p === 1) return p == null ? "–" : "1";
    return p < 1e-3 ? "<.001" : p >= 0.9995 ? ">.999" : round(p, 3).slice(1);
  }
  var counted = (n, one, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;
  var plainNumber = (value) => value == null ? numbers_default.undefined : String(Number(value.toPrecision(6))).replace("-", "−");
  function roundTicks(low, high, wanted) {
    const span = high - low, unit = 10 ** Math.floor(Math.log10(span / wanted));
    const step = (
      /** @type {number} */
      [1, 2, 5, 10].find((n) => span / (unit * n) <= wanted) * unit
    );
    const first = Math.ceil(low / step - 1e-9);
    return range(Math.max(0, Math.floor(high / step + 1e-9) - first + 1)).map((n) => +((first + n) * step).toPrecision(12));
  }
  var tickDecimals = ([one, next]) => next > one ? Math.min(12, Math.max(0, Math.ceil(-Math.log10(next - one) - 1e-9))) : 4;
  function formatDates(seconds) {
    const full = seconds.map((second) => new Date(second * 1e3).toISOString().replace("T", " "));
    const length = [10, 16].find((long) => new Set(full.map((text) => text.slice(0, long))).size === full.length) ?? 19;
    return full.map((text) => text.slice(0, length));
  }

  // registry/reports/page/scripts/plots.js
  var SEVERAL = 5;
  var EDGE = 10;
  var BEYOND = "The scale ends at Tukey's fences (1.5 interquartile ranges from the quartiles of all values and interval ends); arrows at its edge mark values that are further away.";
  function fences(numbers) {
    const sorted = [...numbers].sort((a, b) => a - b);
    const quartile = (share) => {
      const place = share * (sorted.length - 1), below = Math.floor(place);
      return sorted[below] + (place - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
    };
    const lower = quartile(0.25), upper = quartile(0.75), reach = 1.5 * (upper - lower) || Infinity;
    return [lower - reach, upper + reach];
  }
  function scaleOver(rows2, width, always = []) {
    const known = rows2.filter(({ value }) => value != null);
    const all = known.flatMap(({ value, low: low2, high: high2 }) => [value, low2 ?? value, high2 ?? value]);
    const spanOf = (lowest, highest) => {
      const inside = [...all.filter((number) => number >= lowest && number <= highest), ...always];
      return [Math.min(...inside), Math.max(...inside)];
    };
    const whole = spanOf(-Infinity, Infinity), inner = known.length < SEVERAL ? whole : spanOf(...fences(all));
    const [low, high] = whole[1] - whole[0] > 1.5 * (inner[1] - inner[0]) ? inner : whole;
    const x = (value) => EDGE + (width - 2 * EDGE) * (high > low ? (Math.min(high, Math.max(low, value)) - low) / (high - low) : 0.5);
    const digits = high > low ? Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(high - low)))) : 2;
    const beyond = all.some((number) => number < low || number > high);
    return { low, high, width, x, digits, rule: beyond ? BEYOND : null };
  }
  function axisOf({ low, high, width, x, digits }, zero = false) {
    if (!(low < high)) return null;
    const mark = (value, anchor) => svg("text", {
      x: anchor === "start" ? 1 : anchor === "end" ? width - 1 : x(value),
      y: 11,
      "text-anchor": anchor
    }, value === 0 ? "0" : fixed(value, digits));
    const room = x(0) > 48 && x(0) < width - 48;
    return svg(
      "svg",
      {
        class: "axis",
        width,
        height: 14,
        viewBox: `0 0 ${width} 14`,
        role: "img",
        "aria-label": `from ${fixed(low, digits)} to ${fixed(high, digits)}`
      },
      mark(low, "start"),
      mark(high, "end"),
      zero && room ? mark(0, "middle") : null
    );
  }
  var arrow = (tip, to, dot) => svg("path", { class: dot, d: `M${tip} 8l${-7 * to} -4v8z` });
  function drawInterval(scale, { value, low, high }, label, { isFilled = true, zero = false } = {}) {
    const { x, width } = scale, dot = isFilled ? "filled" : "hollow";
    const outside = value < scale.low ? -1 : value > scale.high ? 1 : 0;
    const cut = [[low, scale.low, -1], [high, scale.high, 1]];
    const known = low != null || high != null;
    return svg(
      "svg",
      { class: "interval", width, height: 16, viewBox: `0 0 ${width} 16`, role: "img", "aria-label": label },
      svg("title", {}, label),
      zero ? svg("line", { class: "zero", x1: x(0), x2: x(0), y1: -6, y2: 22 }) : svg("line", { class: "rail", x1: EDGE, x2: width - EDGE, y1: 8, y2: 8 }),
      known && !outside ? [
        svg("line", { class: "span", x1: x(low ?? scale.low), x2: x(high ?? scale.high), y1: 8, y2: 8 }),
        ...cut.filter(([end, edge, to]) => end == null || to * (end - edge) > 0).map(([, edge, to]) => svg("path", { class: "cut", d: `M${x(edge) + 2 * to} 4l${4 * to} 4l${-4 * to} 4` }))
      ] : [],
      outside ? [
        arrow(outside < 0 ? 2 : width - 2, outside, dot),
        svg("text", { x: outside < 0 ? 14 : width - 14, y: 12, "text-anchor": outside < 0 ? "start" : "end" }, fixed(value))
      ] : [svg("circle", { class: dot, cx: x(value), cy: 8, r: 3.5 })]
    );
  }
  var PLOT = { height: 320, left: 66, right: 14, top: 12, bottom: 42 };
  var widthOf = (panel) => Math.max(300, Math.min(760, panel.clientWidth || 460));
  function sliderOver(drawn, points, labels) {
    let pointed = 0;
    const mark = svg("circle", { class: "pointed", r: 8, cx: -99, cy: -99 });
    drawn.append(mark);
    const text = () => points[pointed]?.lines().join(". ") ?? "nothing";
    const slider = el("div", {
      class: "slider",
      role: "slider",
      tabindex: 0,
      ...labels,
      "aria-valuemin": 1,
      "aria-valuemax": Math.max(1, points.length),
      "aria-valuenow": 1,
      "aria-valuetext": text()
    }, drawn);
    const point = (n) => {
      if (!points.length) return;
      pointed = Math.max(0, Math.min(points.length - 1, n));
      mark.setAttribute("cx", String(points[pointed].x));
      mark.setAttribute("cy", String(points[pointed].y));
      slider.setAttribute("aria-valuenow", String(pointed + 1));
      slider.setAttribute("aria-valuetext", text());
      showTip(tipLines(points[pointed].lines()), mark);
    };
    const leave = () => {
      mark.setAttribute("cx", "-99");
      hideTip();
    };
    slider.addEventListener("pointermove", (event) => {
      const box = drawn.getBoundingClientRect(), scale = drawn.viewBox.baseVal.width / box.width;
      const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
      let nearest = -1, least = 18 ** 2;
      points.forEach(({ x, y }, n) => {
        const distance = (px - x) ** 2 + (py - y) ** 2;
        if (distance < least) [nearest, least] = [n, distance];
      });
      if (nearest >= 0) point(nearest);
      else leave();
    });
    slider.addEventListener("pointerleave", leave);
    slider.addEventListener("focus", () => {
      if (slider.matches(":focus-visible")) point(pointed);
    });
    slider.addEventListener("blur", leave);
    slider.addEventListener("keydown", (event) => {
      const to = {
        ArrowRight: pointed + 1,
        ArrowUp: pointed + 1,
        ArrowLeft: pointed - 1,
        ArrowDown: pointed - 1,
        Home: 0,
        End: points.length - 1,
        PageUp: pointed + 10,
        PageDown: pointed - 10
      }[event.key];
      if (to === void 0) return;
      event.preventDefault();
      point(to);
    });
    return slider;
  }
  var acrossAt = (width, y, text) => svg(
    "g",
    { class: "tick" },
    svg("line", { x1: PLOT.left, x2: width - PLOT.right, y1: y, y2: y }),
    svg("text", { x: PLOT.left - 6, y: y + 4, "text-anchor": "end" }, text)
  );
  var upAt = (x, text) => svg(
    "g",
    { class: "tick" },
    svg("line", { x1: x, x2: x, y1: PLOT.top, y2: PLOT.height - PLOT.bottom }),
    svg("text", { x, y: PLOT.height - PLOT.bottom + 16, "text-anchor": "middle" }, text)
  );
  function titlesOf(width, across, up) {
    const { left, right, top, bottom, height } = PLOT;
    return [
      svg("text", { class: "title", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, across),
      svg("text", { class: "title", x: -(top + height - bottom) / 2, y: 12, transform: "rotate(-90)", "text-anchor": "middle" }, up)
    ];
  }
  var STEPS = { height: 240, left: 62, right: 14, top: 12, bottom: 34 };
  function stepChart(points, label, width) {
    const { height, left, right, top, bottom } = STEPS;
    const scores = points.map(({ score }) => score), times = points.map(({ seconds }) => seconds);
    const pad = (Math.max(...scores) - Math.min(...scores)) * 0.08 || Math.abs(scores[0]) * 0.05 || 1;
    const low = Math.min(...scores) - pad, high = Math.max(...scores) + pad;
    const begin = times[0], end = times[times.length - 1];
    const x = (n) => left + 8 + (width - left - right - 40) * (end > begin ? (times[n] - begin) / (end - begin) : n / Math.max(1, points.length - 1));
    const y = (score) => height - bottom - (height - top - bottom) * ((score - low) / (high - low));
    const path = points.map(({ score }, n) => n ? `H${x(n).toFixed(1)}V${y(score).toFixed(1)}` : `M${x(0).toFixed(1)} ${y(score).toFixed(1)}`);
    const dates = formatDates(times), ticks = roundTicks(low, high, 5), shown2 = (
      /** @type {number[]} */
      []
    );
    const last = points.length - 1, room = 8 * dates[0].length;
    for (const n of range(points.length)) {
      if (n === last || n === 0 || x(n) - x(shown2[shown2.length - 1]) > room && width - right - x(n) > 1.5 * room) shown2.push(n);
    }
    const anchor = (n) => n === 0 ? "start" : n === last ? "end" : "middle";
    return svg(
      "svg",
      { class: "steps", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
      ticks.map((score) => svg(
        "g",
        { class: "tick" },
        svg("line", { x1: left, x2: width - right, y1: y(score), y2: y(score) }),
        svg("text", { x: left - 6, y: y(score) + 4, "text-anchor": "end" }, fixed(score, tickDecimals(ticks)))
      )),
      shown2.map((n) => svg("text", { x: n === last && n ? width - right : x(n) - (n === 0 ? 8 : 0), y: height - 12, "text-anchor": anchor(n) }, dates[n])),
      svg("path", { class: "stepped", d: `${path.join("")}H${width - right}` }),
      points.map((point, n) => svg(
        "circle",
        { class: point.isFilled ? "filled" : "hollow", cx: x(n), cy: y(point.score), r: 5 },
        svg("title", {}, `${dates[n]}: ${point.text}`)
      ))
    );
  }

  // registry/reports/page/scripts/state.js
  var data = JSON.parse(
    /** @type {HTMLElement} */
    document.getElementById("data").textContent ?? ""
  );
  var DEFAULTS = {
    show: "",
    metric: "",
    set: "",
    track: "",
    facet: "",
    sort: "rank",
    filter: "",
    p: "adjusted",
    item: "",
    a: "",
    b: "",
    chart: "",
    of: "",
    by: "",
    more: "",
    find: "",
    order: "",
    on: "",
    diff: "",
    system: "",
    hide: "",
    correct: ""
  };
  var view = { ...DEFAULTS };
  function readView() {
    const given = new URLSearchParams(location.hash.slice(1));
    view = /** @type {typeof DEFAULTS} */
    Object.fromEntries(Object.entries(DEFAULTS).map(([key, value]) => [key, given.get(key) ?? value]));
  }
  var viewChanges = (changes = {}) => Object.fromEntries(
    Object.entries({ ...view, ...changes }).filter(([key, value]) => value !== DEFAULTS[
      /** @type {keyof typeof DEFAULTS} */
      key
    ])
  );
  var hrefWith = (changes) => `#${new URLSearchParams(viewChanges(changes))}`;
  function setView(changes) {
    Object.assign(view, changes);
    try {
      history.replaceState(null, "", hrefWith({}));
    } catch {
    }
  }
  var shown = {};
  function setShown(board, listing) {
    Object.assign(shown, { board, listing, all: void 0 });
  }
  var DIMENSIONS = [
    ["metric", "metric", "Metric"],
    ["set", "test_set", "Test set"],
    ["track", "track", "Track"],
    ["facet", "facet", "Facet"]
  ];
  var chosenDimensions = DIMENSIONS.filter(([key, field]) => new Set(data.boards.map((board) => board[field])).size > 1 || key === "facet" && data.boards[0].facet != null);
  var WHOLE = { track: "no track", facet: "all items" };
  var boardHeading = (name, board) => board?.headings[name] ?? data.columns.board[name].heading;
  var pairHeading = (name) => data.columns.pairs[name].heading;
  var differenceHeading = (boards) => boards.some((board) => board.better === "lower") ? "better by" : pairHeading("difference");
  var intervalHeading = (board) => `${100 * board.confidence} % ${pairHeading("interval")}`;
  var viewOf = (board) => Object.fromEntries(DIMENSIONS.map(([key, field]) => [key, board[field] ?? ""]));

  // registry/reports/page/scripts/systems.js
  var factsOf = (submission) => Object.hasOwn(data.systems.of, submission) ? data.systems.of[submission] : {};
  var LINKS = ["paper", "code"];
  var externalLink = { target: "_blank", rel: "noopener noreferrer" };
  function linksOf(submission) {
    const facts = factsOf(submission);
    return LINKS.filter((name) => facts[name]).flatMap((name) => [" ", el("a", { class: "fact", href: facts[name], ...externalLink }, name)]);
  }
  var compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
  var FACTS = [
    ["description", "description", visible],
    ["size", "parameters", (value) => compact.format(value), true],
    ["cost", data.task.cost_unit ? `cost (${visible(data.task.cost_unit)})` : "cost", (value) => value.toLocaleString("en"), true],
    ["licence", "licence", visible],
    ...LINKS.map((name) => (
      /** @type {[string, string, (value: any) => any]} */
      [name, name, (value) => el("a", { href: value, ...externalLink }, visible(value))]
    ))
  ];
  function drawSystems(board) {
    const standings = board.standings, factsAt = (n) => factsOf(cellAt(standings.submission, n));
    const declaring = range(board.n).filter((n) => FACTS.some(([key]) => factsAt(n)[key] != null));
    const box = byId("about-systems"), table = el("table", {});
    box.replaceChildren();
    if (!declaring.length) return;
    const more = data.systems.left_out;
    const details = el(
      "details",
      {},
      el("summary", {}, `Descriptions of ${declaring.length === board.n ? "the systems" : `${declaring.length} of ${board.n} systems`}`),
      more ? el("p", { class: "quiet" }, `${counted(more, "description is", "descriptions are")} left out, because the page would be too large.`) : null,
      el("div", { class: "wide", role: "region", "aria-label": "Descriptions of systems", tabindex: 0 }, table)
    );
    details.addEventListener("toggle", () => {
      const columns = FACTS.filter(([key]) => declaring.some((n) => factsAt(n)[key] != null));
      table.replaceChildren(
        el("thead", {}, el(
          "tr",
          {},
          el("th", { scope: "col" }, boardHeading("system")),
          columns.map(([, title, , right]) => el("th", { scope: "col", class: right && "right" }, title))
        )),
        el("tbody", {}, declaring.map((n) => el(
          "tr",
          {},
          el("th", { scope: "row" }, nameElement(cellAt(standings.shown, n))),
          columns.map(([key, , shown2, right]) => el(
            "td",
            { class: right ? "right" : key },
            factsAt(n)[key] == null ? "–" : el("bdi", {}, shown2(factsAt(n)[key]))
          ))
        )))
      );
    });
    box.append(details);
  }
  var escapeMarkup = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.codePointAt(0)};`);
  function frameMarkup() {
    const address = location.protocol.startsWith("http") ? location.href : `https://example.org/${data.task.id}.html${location.hash}`;
    return `<iframe src="${escapeMarkup(address)}" title="${escapeMarkup(visible(document.title))}" width="100%" height="640" loading="lazy" sandbox="allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" style="border:0"></iframe>`;
  }
  async function copyText(source, status) {
    try {
      await navigator.clipboard.writeText(source.textContent);
      status.textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(source);
      status.textContent = "Selected: copy it with the keyboard.";
    }
  }
  function listenToAbout() {
    for (
      const button of
      /** @type {NodeListOf<HTMLButtonElement>} */
      document.querySelectorAll("button[data-copies]")
    ) {
      button.addEventListener("click", () => copyText(byId(button.dataset.copies ?? ""), button.nextElementSibling));
    }
    byId("embed").addEventListener("toggle", () => {
      byId("frame").textContent = frameMarkup();
    });
  }
  var keyOf = (team, system) => JSON.stringify([team, system]);
  var nameOf = (n) => cellAt(data.details.names, n);
  var numberByKey = new Map(range(data.details.n).map((n) => [keyOf(cellAt(data.details.team, n), cellAt(data.details.system, n)), n]));
  var systemNumbers = new Map(range(data.details.n).map((n) => [nameOf(n), n]));
  var numberOf = (rows2, row, team = "team", system = "system") => numberByKey.get(keyOf(cellAt(rows2[team], row), cellAt(rows2[system], row)));
  var placesByBoard = /* @__PURE__ */ new WeakMap();
  function placeOn(board, n) {
    if (!placesByBoard.has(board)) placesByBoard.set(board, new Map(range(board.n).map((place) => [numberOf(board.standings, place), place])));
    return placesByBoard.get(board).get(n);
  }
  var chosenNames = (board) => board.n === 2 && !view.a && !view.b ? [nameOf(numberOf(board.standings, 0)), nameOf(numberOf(board.standings, 1))] : [view.a, view.b];
  var systemLink = (n, shown2 = nameOf(n)) => n === void 0 ? nameElement(shown2) : el("a", { class: "to-system", href: hrefWith({ system: nameOf(n) }) }, nameElement(shown2));

  // registry/reports/page/scripts/listing.js
  var FIRST_ROWS = 50;
  var classOf = (column2) => [column2.right && "right", column2.wraps && "wraps", column2.name === "cluster" && "spare"].filter(Boolean).join(" ") || null;
  var rows = [];
  var rowOf = (listing, n) => rows[n] ??= el("tr", {}, listing.columns.map((column2) => column2.isHeader ? el("th", { scope: "row" }, column2.cell(n)) : el("td", { class: classOf(column2) }, column2.cell(n))));
  function sortingOf(listing) {
    const descending = view.sort.startsWith("-"), name = descending ? view.sort.slice(1) : view.sort;
    const column2 = listing.columns.find((one) => one.value && one.name === name);
    return column2 ? { column: column2, descending } : { column: listing.first, descending: Boolean(listing.first.descending) };
  }
  function headOf(listing, column2) {
    if (column2.scale) return el("th", { scope: "col", title: column2.scale.rule }, column2.heading, axisOf(column2.scale));
    const button = el("button", { type: "button" }, visible(column2.heading));
    button.addEventListener("click", () => {
      const natural = Boolean(column2.descending), now = sortingOf(listing);
      const descending = now.column === column2 && now.descending === natural ? !natural : natural;
      setView({ sort: `${descending ? "-" : ""}${column2.name}` });
      arrangeRows(listing);
    });
    return el("th", { scope: "col", class: classOf(column2), "data-key": column2.name, title: column2.about || null }, button);
  }
  var hiddenColumns = () => view.hide.split(",").filter(Boolean).map(decodeURIComponent);
  function shownColumns(columns) {
    const hidden = new Set(hiddenColumns());
    return columns.filter(({ name, isHeader }) => isHeader || !hidden.has(name));
  }
  function drawColumnChoice(listing, redraw2) {
    const hidden = new Set(hiddenColumns()), focused = document.activeElement?.id;
    byId("columns").replaceChildren(el("legend", {}, "Columns"), ...listing.allColumns.filter(({ isHeader }) => !isHeader).map(({ name, heading }, n) => {
      const box = el("input", { type: "checkbox", id: `column-${n}`, checked: !hidden.has(name) });
      box.addEventListener("change", () => {
        if (box.checked) hidden.delete(name);
        else hidden.add(name);
        setView({ hide: [...hidden].map(encodeURIComponent).join(",") });
        redraw2();
      });
      return el("label", { for: `column-${n}` }, box, " ", visible(heading));
    }));
    if (focused?.startsWith("column-")) byId(focused)?.focus();
  }
  function drawTable(listing) {
    byId("what").textContent = visible(listing.title);
    rows = [];
    const caption = el("caption", { class: "unseen" }, `${visible(listing.title)}, sortable by its column headers`);
    byId("standings").replaceChildren(caption, el("thead", {}, el("tr", {}, listing.columns.map((column2) => headOf(listing, column2)))), el("tbody"));
    arrangeRows(listing, FIRST_ROWS);
    filterRows(listing);
    byId("sentences").replaceChildren(...listing.sentences.map((sentence) => el("li", {}, sentence)));
  }
  function orderOf(listing) {
    const { column: column2, descending } = sortingOf(listing);
    const values = range(listing.n).map((n) => column2.value?.(n)), sign = descending ? -1 : 1;
    return range(listing.n).sort((m, n) => {
      const a = values[m], b = values[n];
      if (a == null || b == null) return Number(a == null) - Number(b == null) || m - n;
      return sign * (typeof a === "string" ? a.localeCompare(b) : a - b) || m - n;
    });
  }
  function arrangeRows(listing, most = listing.n) {
    const { column: column2, descending } = sortingOf(listing), order = orderOf(listing), begins = /* @__PURE__ */ new Set();
    let above = null;
    for (const n of order) {
      const cluster = listing.cluster?.(n);
      if (column2 === listing.first && above != null && cluster != null && cluster !== above) begins.add(n);
      above = cluster ?? above;
    }
    const chosen = most < listing.n ? order.filter((n) => matchesFilter(listing, n)).slice(0, most) : order;
    for (const n of chosen) {
      const row = rowOf(listing, n);
      row.classList.toggle("begins", begins.has(n));
      row.hidden = !matchesFilter(listing, n);
    }
    byId("standings").tBodies[0].append(...chosen.map((n) => rows[n]));
    for (const head of byId("standings").querySelectorAll("th[data-key]")) {
      if (head.dataset.key === column2.name) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    fitTable();
  }
  function matchesFilter(listing, n) {
    const wanted = view.filter.toLowerCase();
    return listing.kind(n) === wanted || listing.texts(n).some((text) => text.toLowerCase().includes(wanted));
  }
  function filterRows(listing) {
    const found = range(listing.n).filter((n) => matchesFilter(listing, n));
    const matches = new Set(found);
    rows.forEach((row, n) => {
      row.hidden = !matches.has(n);
    });
    byId("found").textContent = view.filter ? `${found.length} of ${listing.n} systems` : `${listing.n} system${listing.n > 1 ? "s" : ""}`;
  }
  function fitTable() {
    const table = byId("standings"), region = byId("systems"), fits = () => table.offsetWidth <= region.offsetWidth;
    region.classList.remove("tight");
    const fit = fits() || (region.classList.add("tight"), fits());
    region.classList.toggle("fits", fit);
    if (fit) region.removeAttribute("tabindex");
    else region.tabIndex = 0;
  }

  // registry/reports/page/scripts/boards.js
  function findBoard(last = "") {
    const fit = (board) => DIMENSIONS.reduce((sum, [key, field]) => sum + ((board[field] ?? "") === view[key] ? key === last ? 10 : 1 : 0), 0);
    return data.boards.reduce((best, board) => fit(board) > fit(best) ? board : best);
  }
  var labelOf = (metric) => data.boards.find((board) => board.metric === metric)?.metric_label ?? metric;
  function drawControls(board, wide, redraw2) {
    const selects = chosenDimensions.filter(([key]) => !wide || key === "track").map(([key, field, label]) => {
      const values = [...new Set(data.boards.map((other) => other[field] ?? ""))];
      return selectOf(label, values.map((value) => [value, key === "metric" ? labelOf(value) : value || WHOLE[key]]), board[field] ?? "", (value) => {
        setView({ [key]: value });
        redraw2(key);
      });
    });
    if (!view.system && wideOf(board.track)) {
      selects.unshift(selectOf("View", [["", "one leaderboard"], ["wide", "side by side"]], view.show, (value) => {
        setView({ show: value, sort: DEFAULTS.sort });
        redraw2();
      }));
    }
    const focused = document.activeElement?.id ?? "";
    const holder = byId(view.system ? "system-controls" : "board-controls");
    if (byId("controls").parentElement !== holder) holder.prepend(byId("controls"));
    byId("controls").replaceChildren(...selects);
    byId("controls").hidden = !selects.length;
    if (selects.some((select) => select.contains(byId(focused)))) byId(focused).focus();
  }
  function boardColumns(board) {
    const standings = board.standings;
    const plain = (key) => ({
      cell: (n) => cellAt(standings[key], n) ?? "–",
      value: (n) => cellAt(standings[key], n)
    });
    const intervals = intervalCells(board);
    const cells = {
      rank: { cell: plain("rank").cell, value: (n) => n },
      system: { isHeader: true, value: (n) => cellAt(standings.shown, n), cell: (n) => [
        systemLink(numberOf(standings, n), cellAt(standings.shown, n)),
        cellAt(standings.late, n) ? el("abbr", { title: "came late" }, "*") : null,
        ...linksOf(cellAt(standings.submission, n))
      ] },
      score: {
        descending: board.better === "higher",
        value: (n) => cellAt(standings.score, n),
        cell: (n) => el("b", {}, withMinus(cellAt(standings.printed, n)))
      },
      range: {
        cell: plain("range").cell,
        value: (n) => cellAt(standings.range, n) === "-" ? null : parseInt(cellAt(standings.range, n), 10)
      },
      interval: intervals,
      share_best: {
        descending: true,
        value: (n) => cellAt(standings.share_best, n),
        cell: (n) => cellAt(standings.share_best, n) == null ? "–" : percent(cellAt(standings.share_best, n))
      },
      cluster: plain("in_cluster"),
      wins: {
        descending: true,
        value: (n) => cellAt(standings.wins, n),
        cell: (n) => drawDecisions(cellAt(standings.wins, n), cellAt(board.undecided, n), cellAt(standings.losses, n))
      },
      team: { cell: (n) => nameElement(cellAt(standings.team, n)), value: (n) => cellAt(standings.team, n) },
      run_sd: {
        value: (n) => cellAt(standings.run_sd, n),
        cell: (n) => cellAt(standings.run_sd, n) == null ? "–" : fixed(cellAt(standings.run_sd, n))
      }
    };
    return board.columns.map((name) => ({
      name,
      heading: boardHeading(name, board),
      right: data.columns.board[name].right,
      about: data.columns.board[name].about,
      ...cells[name] ?? plain(name)
    }));
  }
  var intervalOf = ({ standings }, n) => ({ value: cellAt(standings.score, n), low: cellAt(standings.ci_low, n), high: cellAt(standings.ci_high, n) });
  function intervalCells(board) {
    const standings = board.standings, all = range(board.n).map((n) => intervalOf(board, n));
    const scale = scaleOver(all, innerWidth < 640 ? 72 : 168);
    const hasIntervals = all.some(({ low, high }) => low != null || high != null);
    const label = (n) => hasIntervals ? withMinus(cellAt(standings.interval, n)) || "no interval" : cellAt(standings.printed, n);
    return {
      scale,
      cell: (n) => all[n].value == null ? "" : drawInterval(scale, all[n], label(n))
    };
  }
  function drawDecisions(wins, undecided, losses) {
    const all = Math.max(1, wins + undecided + losses), width = 72;
    let x = 0;
    const bars = [["wins", wins], ["undecided", undecided], ["losses", losses]].map(([name, n]) => {
      const bar = svg("rect", { class: name, x, y: 0, width: width * Number(n) / all, height: 8 });
      x += width * Number(n) / all;
      return bar;
    });
    return el(
      "span",
      { class: "decided" },
      svg("svg", { width, height: 8, "aria-hidden": "true" }, bars),
      el("span", { class: "counts" }, `${wins} · ${undecided} · ${losses}`)
    );
  }
  var shortTitle = (title) => title.startsWith(`${data.task.id}/`) ? title.slice(data.task.id.length + 1) : title;
  function boardListing(board) {
    const standings = board.standings, columns = boardColumns(board), rule = columns.find(({ scale }) => scale?.rule)?.scale?.rule;
    return {
      title: `${shortTitle(board.title)}, ${counted(board.n, "system")}, ${counted(board.n_items, "item")}`,
      n: board.n,
      allColumns: columns,
      columns: shownColumns(columns),
      first: columns[0],
      cluster: (n) => cellAt(standings.in_cluster, n),
      kind: (n) => cellAt(standings.kind, n),
      texts: (n) => [cellAt(standings.shown, n), cellAt(standings.team, n)],
      sentences: [
        ...board.sentences.map(visible),
        ...range(board.n).some((n) => cellAt(standings.late, n)) ? ["* came late."] : [],
        ...rule ? [rule] : []
      ]
    };
  }
  var wideOf = (track) => data.wide.find((wide) => (wide.track ?? "") === (track ?? ""));
  var figuresOf = (column2) => column2.board == null ? column2.figures ?? {} : data.boards[column2.board].standings;
  var firstBoardOf = (wide) => data.boards[wide.columns.find(({ board }) => board != null)?.board ?? 0];
  function wideColumn(wide, column2) {
    const figures = figuresOf(column2);
    const place = (n) => cellAt(column2.at, n);
    const value = (key, n) => place(n) == null ? null : cellAt(figures[key], place(n));
    const note = (n) => {
      if (column2.board == null) return value("beside", n);
      return value("rank", n) == null ? "" : `(${value("range", n)})`;
    };
    const widthOf2 = (text) => [...text].reduce((sum, c) => sum + (/\d/.test(c) ? 1 : 0.65), 0);
    const longest = Math.max(...range(wide.n).map((n) => widthOf2(note(n) ?? "")));
    const noteElement = (n) => {
      const node = el("span", { class: "beside" }, note(n));
      node.style.minWidth = `${longest}ch`;
      return node;
    };
    return {
      name: `by ${column2.name}`,
      heading: column2.title,
      right: true,
      wraps: column2.board == null,
      descending: column2.better === "higher",
      value: (n) => value("score", n),
      cell: (n) => place(n) == null ? "–" : [
        el(value("rank", n) === 1 ? "b" : "span", {}, withMinus(value("printed", n))),
        ...longest ? [" ", noteElement(n)] : []
      ]
    };
  }
  function familyOf(column2) {
    if (column2.board == null) return visible(`${column2.title}: ${column2.basis}`);
    const board = data.boards[column2.board];
    const selects = Object.entries(viewOf(board)).filter(([, value]) => value !== "");
    return [
      el("a", { href: `#${new URLSearchParams(selects)}` }, nameElement(column2.title)),
      `: ${visible(column2.basis)}; `,
      el("code", { class: "signature" }, breakable(board.signature))
    ];
  }
  function wideListing(wide) {
    const rows2 = wide.rows, columns = wide.columns.map((column2) => wideColumn(wide, column2));
    const hasTeams = range(wide.n).some((n) => cellAt(rows2.team, n) !== cellAt(rows2.system, n));
    const allColumns = [
      { name: "system", heading: boardHeading("system"), isHeader: true, value: (n) => cellAt(rows2.shown, n), cell: (n) => [
        systemLink(numberOf(rows2, n), cellAt(rows2.shown, n)),
        cellAt(rows2.late, n) ? el("abbr", { title: "came late" }, "*") : null
      ] },
      ...hasTeams ? [{
        name: "team",
        heading: boardHeading("team"),
        value: (n) => cellAt(rows2.team, n),
        cell: (n) => nameElement(cellAt(rows2.team, n))
      }] : [],
      ...Array.isArray(rows2.kind) ? [{
        name: "kind",
        heading: boardHeading("kind"),
        value: (n) => cellAt(rows2.kind, n),
        cell: (n) => cellAt(rows2.kind, n) ?? "–"
      }] : [],
      ...columns
    ];
    return {
      title: `${shortTitle(wide.title)}, ${counted(wide.n, "system")}`,
      n: wide.n,
      first: columns[0],
      allColumns,
      columns: shownColumns(allColumns),
      kind: (n) => cellAt(rows2.kind, n),
      texts: (n) => [cellAt(rows2.shown, n), cellAt(rows2.team, n)],
      sentences: [visible(wide.notes[0]), ...wide.columns.map(familyOf), ...wide.notes.slice(1).map(visible)]
    };
  }

  // registry/reports/page/scripts/pairs.js
  var WINDOW = 40;
  var PRINTED = 12;
  function indexPairs(board) {
    const { n } = board, pairs = (
      /** @type {import("./types").Pairs} */
      board.pairs
    );
    const partners = (i) => range(Math.min(pairs.reach ?? n, n - 1 - i)).map((j) => i + 1 + j);
    const a = pairs.a ?? range(n).flatMap((i) => partners(i).map(() => i));
    const b = pairs.b ?? range(n).flatMap(partners);
    const numbers = new Map(a.map((i, k) => [i * n + b[k], k]));
    const standings = board.standings;
    return {
      a,
      b,
      count: a.length,
      find: (i, j) => numbers.get(Math.min(i, j) * n + Math.max(i, j)),
      p: (k) => cellAt(view.p === "raw" ? pairs.p_value : pairs.p_adjusted, k),
      difference: (k) => cellAt(pairs.difference, k),
      significant(k) {
        if (view.p !== "raw") return pairs.significant[k] === "1";
        const p = this.p(k);
        return p != null && p <= board.alpha;
      },
      sameTeam: (k) => cellAt(standings.team, a[k]) === cellAt(standings.team, b[k])
    };
  }
  function pairFigures(board, all, i, j) {
    const k = (
      /** @type {number} */
      all.find(i, j)
    ), pairs = (
      /** @type {import("./types").Pairs} */
      board.pairs
    );
    const turned = i > j, sign = turned ? -1 : 1;
    const difference = all.difference(k), low = cellAt(pairs.ci_low, k), high = cellAt(pairs.ci_high, k);
    const ends = turned ? [high, low] : [low, high];
    const turn = (value) => value == null ? "–" : fixed(sign * value, board.decimals);
    return {
      difference: difference == null ? "n/a" : signed(sign * difference, board.decimals),
      interval: ends.some((end) => end != null) ? `${turn(ends[0])} to ${turn(ends[1])}` : "",
      p: pValue(cellAt(pairs.p_value, k)),
      adjusted: pValue(cellAt(pairs.p_adjusted, k)),
      significant: all.significant(k),
      notes: [
        cellAt(pairs.resolved, k) === false ? "Depends on simulation error" : null,
        all.sameTeam(k) ? "Both systems are of one team" : null,
        cellAt(pairs.messages, k)?.replace(/^./u, (first) => first.toUpperCase()) || null
      ].filter((note) => note != null)
    };
  }
  function numberNotes(figures) {
    const list = [...new Set(figures.flatMap(({ notes }) => notes))];
    return { list, numbers: ({ notes }) => notes.map((note) => list.indexOf(note) + 1).join(", ") };
  }
  function pairLines(board, all, i, j) {
    const figures = pairFigures(board, all, i, j), k = (
      /** @type {number} */
      all.find(i, j)
    );
    const pairs = (
      /** @type {import("./types").Pairs} */
      board.pairs
    );
    const name = (n) => visible(cellAt(board.standings.shown, n));
    const counted2 = cellAt(pairs.n_discordant, k);
    const unit = board.unit === "item" || board.unit === "cluster" ? board.unit : "unit";
    return [
      `${name(i)} against ${name(j)}`,
      `Difference ${figures.difference}` + (figures.interval && `, ${intervalHeading(board)} ${figures.interval}`),
      `p = ${figures.p}` + (board.corrected ? `, adjusted ${figures.adjusted}` : "") + (cellAt(pairs.method, k) ? ` (${cellAt(pairs.method, k)})` : ""),
      counted2 == null ? null : `${counted2} ${unit}${counted2 === 1 ? " differs" : "s differ"}`,
      figures.significant ? "Significant" + (view.p === "raw" && board.corrected ? " without correction" : "") : "Not significant",
      ...figures.notes
    ].filter((line) => line != null);
  }
  function significanceLevels(board) {
    const levels = [1e-3, 0.01, board.alpha].filter((level) => level <= board.alpha);
    return levels.map((level, n) => ({ level, depth: 3 - n }));
  }
  function cellOf(board, all, i, j) {
    if (i === j) return el("td", { class: "same", tabindex: -1, "aria-label": "the same system" });
    const k = all.find(i, j);
    if (k === void 0) {
      const far = Math.abs(i - j) > (board.pairs?.reach ?? board.n);
      return el("td", { class: far && "same", tabindex: -1, "aria-label": far ? "not on this page" : "not compared" });
    }
    const p = all.p(k), band = all.significant(k) && significanceLevels(board).find(({ level }) => p <= level);
    const better = i < j;
    const text = board.n <= PRINTED ? shortPValue(p) : band ? better ? "+" : "−" : "";
    return el("td", { tabindex: -1, "data-i": i, "data-j": j, class: band && `${better ? "better" : "worse"}${band.depth}` }, text);
  }
  var corner = { rows: 0, columns: 0 };
  function drawMatrix(board, all) {
    const last = Math.max(0, Math.ceil(board.n / WINDOW) - 1) * WINDOW;
    corner = { rows: Math.min(corner.rows, last), columns: Math.min(corner.columns, last) };
    const stretch = (from) => range(Math.min(WINDOW, board.n - from)).map((n) => from + n);
    const places = stretch(corner.columns);
    const rank = (n) => cellAt(board.standings.rank, n) ?? "–";
    const heads = places.map((n) => el(
      "th",
      { scope: "col" },
      el("span", { "aria-hidden": "true" }, rank(n)),
      el("span", { class: "unseen" }, visible(cellAt(board.standings.shown, n)))
    ));
    const lines = stretch(corner.rows).map((i) => el(
      "tr",
      {},
      el("th", { scope: "row" }, el("span", { class: "quiet" }, `${rank(i)} `), nameElement(cellAt(board.standings.shown, i))),
      places.map((j) => cellOf(board, all, i, j))
    ));
    byId("matrix").classList.toggle("printed", board.n <= PRINTED);
    byId("matrix").replaceChildren(el("thead", {}, el("tr", {}, el("td", {}), heads)), el("tbody", {}, lines));
    (byId("matrix").querySelector("td[data-i]") ?? byId("matrix").querySelector("tbody td")).tabIndex = 0;
    drawWindows(board, all);
    const levels = significanceLevels(board);
    byId("legend").replaceChildren(
      ...[["better", "the row's system is better"], ["worse", "the column's is"]].map(([side, text]) => el(
        "li",
        {},
        levels.map(({ depth }) => el("i", { class: side + depth })),
        ` ${text}`
      )),
      el("li", {}, `from strong to faint: ${pairHeading(view.p === "raw" || !board.corrected ? "p_value" : "p_adjusted")} ≤ ${levels.map(({ level }) => level).join(", ")}`),
      el("li", {}, el("i", {}), " not significant")
    );
  }
  function drawWindows(board, all) {
    if (board.n <= WINDOW) return byId("windows").replaceChildren();
    const options = range(Math.ceil(board.n / WINDOW)).map((w) => [String(w * WINDOW), `${w * WINDOW + 1} to ${Math.min(board.n, (w + 1) * WINDOW)}`]);
    const sides = board.pairs?.reach == null ? [["Rows", "rows"], ["Columns", "columns"]] : [["Systems", "rows", "columns"]];
    byId("windows").replaceChildren(...sides.map(([title, ...moved], n) => selectOf(title, options, String(corner[moved[0]]), (value) => {
      for (const side of moved) corner[side] = Number(value);
      drawMatrix(board, all);
      byId("windows").querySelectorAll("select")[n].focus();
    })));
  }
  function listenToMatrix() {
    const matrix = byId("matrix");
    const show = (cell) => {
      const { board, all } = shown;
      if (board && all && cell?.dataset.i) showTip(tipLines(pairLines(board, all, +cell.dataset.i, +cell.dataset.j)), cell, cell);
      else hideTip();
    };
    matrix.addEventListener("pointerover", (event) => show(event.target.closest("td")));
    matrix.addEventListener("pointerleave", hideTip);
    matrix.addEventListener("focusin", (event) => show(event.target));
    matrix.addEventListener("focusout", hideTip);
    matrix.addEventListener("keydown", (event) => {
      const cell = event.target, line = cell.parentElement, column2 = cell.cellIndex;
      const to = {
        ArrowRight: () => cell.nextElementSibling,
        ArrowLeft: () => line.cells[Math.max(1, column2 - 1)],
        ArrowDown: () => line.nextElementSibling?.cells[column2],
        ArrowUp: () => line.previousElementSibling?.cells[column2],
        Home: () => line.cells[1],
        End: () => line.cells[line.cells.length - 1]
      }[event.key];
      if (!to) return;
      event.preventDefault();
      const next = to();
      if (!next) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
  var loadedPairs = /* @__PURE__ */ new Map();
  window.evalregistryPairs = ([key, place, columns]) => loadedPairs.set(`${key} ${place}`, columns);
  var addresses;
  function trustedAddress(file) {
    const checked = (url) => {
      if (!/^[A-Za-z0-9][\w.-]*\.pairs\/\d+\/\d+\.js$/.test(url)) throw new Error(`no file of pairs: ${url}`);
      return url;
    };
    addresses ??= /** @type {any} */
    window.trustedTypes?.createPolicy("pairs", { createScriptURL: checked }) ?? { createScriptURL: checked };
    return addresses.createScriptURL(file);
  }
  async function loadPairs({ folder, key }, place) {
    const name = `${key} ${place}`;
    if (!loadedPairs.has(name)) {
      const script = el("script");
      script.src = trustedAddress(`${folder}/${place}.js`);
      await new Promise((done) => {
        for (const end of ["load", "error"]) script.addEventListener(end, done);
        document.head.append(script);
      });
      script.remove();
    }
    return loadedPairs.get(name);
  }
  function unpack(text, value) {
    const bytes = atob(text);
    return range(bytes.length / 3).map((k) => {
      const code = bytes.charCodeAt(3 * k) << 16 | bytes.charCodeAt(3 * k + 1) << 8 | bytes.charCodeAt(3 * k + 2);
      return code === 16777215 ? null : value(code);
    });
  }
  function unpackColumn(column2) {
    if (column2 == null) return null;
    if (typeof column2 === "string") return unpack(column2, (code) => Number(`${code % 1e4}e-${Math.floor(code / 1e4)}`));
    if (column2.of) return column2.codes == null ? column2.of[0] : unpack(column2.codes, (code) => column2.of[code]);
    return unpack(column2.codes, (code) => Number(`${code - 8388608}e${-column2.decimals}`));
  }
  var unpackColumns = (columns) => Object.fromEntries(Object.entries(columns).map(([name, column2]) => [name, unpackColumn(column2)]));
  for (const board of data.boards) {
    if (board.pairs?.reach == null) continue;
    const { reach, a, b, significant, ...columns } = board.pairs;
    board.pairs = { reach, a, b, significant, ...unpackColumns(columns) };
  }
  function withPairsOf(board, place, { others, significant, ...columns }) {
    const against = others ?? range(board.n).filter((n) => n !== place);
    return { against, board: { ...board, pairs: {
      ...unpackColumns(columns),
      significant,
      reach: null,
      a: against.map((n) => Math.min(n, place)),
      b: against.map((n) => Math.max(n, place))
    } } };
  }
  var pairsByBoard = /* @__PURE__ */ new WeakMap();
  function boardPairs(board) {
    if (!board.pairs) return null;
    if (!pairsByBoard.has(board)) pairsByBoard.set(board, indexPairs(board));
    return pairsByBoard.get(board);
  }

  // registry/reports/page/scripts/opponents.js
  var FIRST = 40;
  function drawDifferences(board) {
    byId("differences").hidden = !board.pairs;
    if (!board.pairs) return;
    const all = shown.all ??= indexPairs(board), names = range(board.n).map((n) => cellAt(board.standings.shown, n));
    describeSignificance(board);
    byId("against").replaceChildren(selectOf(
      "Differences to",
      [["", `the first, ${names[0]}`], ...names.map((name) => [name, name])],
      names.includes(view.of) ? view.of : "",
      (value) => {
        setView({ of: value });
        openSystem(board, all, names);
      }
    ));
    openSystem(board, all, names);
  }
  function describeSignificance(board) {
    const raw = view.p === "raw" && board.corrected;
    byId("p-values").hidden = !board.corrected;
    for (
      const input of
      /** @type {NodeListOf<HTMLInputElement>} */
      document.getElementsByName("p")
    ) input.checked = input.value === view.p;
    byId("significant").textContent = `significant: ${board.corrected && !raw ? pairHeading("p_adjusted") : pairHeading("p_value")} ≤ ${board.alpha}` + (raw ? ", without the correction that the leaderboard uses" : board.corrected ? "" : ", not corrected");
  }
  async function openSystem(board, all, names) {
    const chosen = names.indexOf(view.of), place = Math.max(0, chosen), reach = board.pairs?.reach;
    if (reach == null || chosen < 0 || !board.files) {
      const against = range(board.n).filter((n) => n !== place && all.find(place, n) !== void 0);
      drawOpponents(board, all, against, place);
      describeOpponents(board, against, place, reach == null ? "" : `, of systems up to ${reach} places apart`);
      return;
    }
    byId("opponents").replaceChildren();
    const columns = await loadPairs(board.files, place);
    if (shown.board !== board || names[place] !== view.of) return;
    if (!columns) {
      byId("differences-note").textContent = "The pairs of this system are not available: their file is absent, or belongs to another version of the leaderboard.";
      return;
    }
    const loaded = withPairsOf(board, place, columns);
    drawOpponents(loaded.board, indexPairs(loaded.board), loaded.against, place);
    describeOpponents(board, loaded.against, place, "");
  }
  function describeOpponents(board, against, place, which) {
    byId("differences-note").textContent = `${counted(against.length, "pair")}${which}; differences above 0 are in favour of ${visible(cellAt(board.standings.shown, place))}.`;
  }
  function differenceFrom(all, board, place, n) {
    const k = all.find(place, n), sign = place < n ? 1 : -1;
    const value = all.difference(k), ends = [cellAt(board.pairs.ci_low, k), cellAt(board.pairs.ci_high, k)];
    const [low, high] = (place < n ? ends : ends.reverse()).map((end) => end == null ? null : sign * end);
    return { value: value == null ? null : sign * value, low, high };
  }
  function drawOpponents(board, all, against, place) {
    const rows2 = against.map((n) => ({ n, interval: differenceFrom(all, board, place, n), figures: pairFigures(board, all, place, n) }));
    const scale = scaleOver(rows2.map(({ interval }) => interval), innerWidth < 640 ? 108 : 240, [0]);
    const notes = numberNotes(rows2.map(({ figures }) => figures));
    const label = ({ difference, interval, significant }) => `${difference}${interval && `, ${interval}`}, ` + (significant ? "significant" : "not significant");
    const drawing = ({ interval, figures }) => interval.value == null ? "" : drawInterval(scale, interval, label(figures), { isFilled: figures.significant, zero: true });
    const columns = [
      numberColumn(boardHeading("rank"), ({ n }) => cellAt(board.standings.rank, n) ?? "–", { class: "right spare" }),
      column(boardHeading("system"), ({ n }) => nameElement(cellAt(board.standings.shown, n)), { isHeader: true }),
      column(["", axisOf(scale, true)], drawing, { title: scale.rule }),
      numberColumn(differenceHeading([board]), ({ figures }) => figures.difference),
      numberColumn(intervalHeading(board), ({ figures }) => figures.interval, { isShown: rows2.some(({ figures }) => figures.interval) }),
      numberColumn(pairHeading("p_value"), ({ figures }) => figures.p),
      numberColumn(pairHeading("p_adjusted"), ({ figures }) => figures.adjusted, { isShown: board.corrected }),
      column("result", ({ n, figures }) => figures.significant ? place < n ? "win" : "loss" : "undecided"),
      column(pairHeading("messages"), ({ figures }) => notes.numbers(figures), { isShown: notes.list.length > 0 })
    ].filter(({ isShown = true }) => isShown);
    const head = ({ heading, right, class: name, title }) => el("th", { scope: "col", class: name ?? (right && "right"), title }, heading);
    const rowElement = (row) => el("tr", {}, rowCells(columns, row));
    const body = el("tbody", {}, rows2.slice(0, FIRST).map(rowElement));
    byId("opponents").replaceChildren(el("thead", {}, el("tr", {}, columns.map(head))), body);
    byId("forest-notes").replaceChildren(...notes.list.map((note) => el("li", {}, visible(note))));
    byId("forest-notes").hidden = !notes.list.length;
    byId("forest-rule").textContent = scale.rule ?? "";
    afterPaint(() => {
      if (body.isConnected) body.append(...rows2.slice(FIRST).map(rowElement));
    });
  }

  // registry/reports/page/scripts/charts.js
  var LEAST = 1e-6;
  function drawGains(board, all) {
    const { height, left, right, top, bottom } = PLOT, width = widthOf(byId("chart-gains"));
    const known = range(all.count).filter((k) => all.difference(k) != null && all.p(k) != null);
    const scale = scaleOver(known.map((k) => ({ value: Math.max(0, all.difference(k)) })), 100, [0]), high = scale.high || 1;
    const x = (gain) => gain > high ? width - 6 : left + (width - left - right) * gain / high;
    const decades = Math.ceil(-Math.log10(Math.max(LEAST, Math.min(0.01, ...known.map(all.p)))) - 1e-9);
    const y = (p) => height - bottom - (height - top - bottom) * Math.min(1, -Math.log10(Math.max(p, LEAST)) / decades);
    const points = known.map((k) => ({
      x: x(Math.max(0, all.difference(k))),
      y: y(all.p(k)),
      k,
      lines: () => pairLines(board, all, all.a[k], all.b[k])
    })).sort((one, other) => one.x - other.x || other.y - one.y);
    const path = (chosen, mark) => points.filter(({ k }) => chosen(k)).map(({ x: px, y: py }) => `M${px.toFixed(1)} ${py.toFixed(1)}${mark}`).join("");
    const beyond = (k) => all.difference(k) > high, dots = (chosen) => path((k) => chosen(k) && !beyond(k), "h0");
    const arrows = (chosen) => path((k) => chosen(k) && beyond(k), "m4 0l-8-4v8z");
    const label = (p) => `${p === LEAST ? "≤ " : ""}${p < 1e-3 ? p.toExponential() : p}`;
    const level = y(board.alpha), gains = roundTicks(0, high, width / 90);
    const drawn = svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      range(decades + 1).map((n) => acrossAt(width, y(+`1e-${n}`), label(+`1e-${n}`))),
      gains.map((gain) => upAt(x(gain), fixed(gain, tickDecimals(gains)))),
      svg("line", { class: "alpha", x1: left, x2: width - right, y1: level, y2: level }),
      svg("path", { class: "teams", d: dots(all.sameTeam) }),
      svg("path", { class: "undecided", d: dots((k) => !all.significant(k)) }),
      svg("path", { class: "hole", d: dots((k) => !all.significant(k)) }),
      svg("path", { class: "filled", d: dots((k) => all.significant(k)) }),
      svg("path", { class: "arrow", d: arrows((k) => all.significant(k)) }),
      svg("path", { class: "arrow hollow", d: arrows((k) => !all.significant(k)) }),
      titlesOf(width, `difference in ${visible(board.metric_label)}`, pairHeading(view.p === "raw" || !board.corrected ? "p_value" : "p_adjusted"))
    );
    byId("plot").replaceChildren(sliderOver(drawn, points, { "aria-labelledby": "plot-heading", "aria-describedby": "plot-help" }));
    const marked = range(all.count).some(all.sameTeam);
    byId("plot-legend").replaceChildren(
      el("li", {}, el("i", { class: "dash" }), ` p = ${board.alpha}`),
      ...scale.rule ? [el("li", {}, scale.rule)] : [],
      ...marked ? [el("li", {}, el("i", { class: "dot teams" }), " both of one team")] : []
    );
  }
  var LOGARITHMIC = 100;
  var NAMED = 60;
  var compactNumber = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  function drawTradeOffs(board) {
    const names = Object.keys(board.numbers);
    byId("trade-offs").hidden = !names.length;
    if (!names.length) return;
    const titled = names.map((name) => [name, titleOf(name)]);
    const choice = (label, options, key, now) => selectOf(label, options, now, (value) => {
      setView({ [key]: value });
      drawFront(board, names);
    });
    byId("front-bar").replaceChildren(
      choice("Score against", titled, "by", attributeOf(names)),
      choice("Better is", [["", "less of it"], ["more", "more of it"]], "more", view.more)
    );
    drawFront(board, names);
    redrawOnResize(byId("trade-offs"), () => drawTradeOffs(board));
  }
  var titleOf = (name) => visible(FACTS.find(([key]) => key === name)?.[1] ?? name);
  var attributeOf = (names) => names.includes(view.by) ? view.by : names[0];
  function findFront(board, numbers) {
    const up = board.better === "lower" ? -1 : 1, across = view.more ? 1 : -1;
    const systems = range(board.n).map((n) => (
      /** @type {any} */
      { n, number: numbers[n], ...intervalOf(board, n) }
    )).filter(({ number, value }) => number != null && value != null).sort((one, other) => across * (other.number - one.number) || up * (other.value - one.value) || one.n - other.n);
    let last = null;
    for (const system of systems) {
      const same = last && system.number === last.number && system.value === last.value;
      system.dominatedBy = !last || same || up * (system.value - last.value) > 0 ? null : last;
      if (!system.dominatedBy) last = system;
    }
    return systems;
  }
  function drawFront(board, names) {
    const by = attributeOf(names), systems = findFront(board, board.numbers[by]);
    const front = systems.filter((system) => !system.dominatedBy), name = ({ n }) => visible(cellAt(board.standings.shown, n));
    const scale = scaleOver(systems, 100), places = placesOf(board, systems, scale);
    const points = systems.map((system) => ({ ...places.pointOf(system), lines: () => [
      name(system),
      `${visible(board.metric_label)} ${withMinus(cellAt(board.standings.printed, system.n))}` + (cellAt(board.standings.interval, system.n) && `, interval ${cellAt(board.standings.interval, system.n)}`),
      `${titleOf(by)} ${system.number.toLocaleString("en", { maximumSignificantDigits: 6 })}`,
      system.dominatedBy ? `Not on the front: ${name(system.dominatedBy)} is as good in both, and better in one` : "On the front"
    ] })).sort((one, other) => one.x - other.x);
    const listed = front.slice(0, 12).map(name).join(", ") + (front.length > 12 ? ` and ${front.length - 12} more` : "");
    const without = board.n - systems.length;
    byId("front-note").textContent = `On the front, where no system is as good in both and better in one: ${listed}. It depends only on scores: differences between its systems need not be significant.` + (without ? ` ${without} ${without === 1 ? "system has" : "systems have"} no such number, or no score.` : "") + (scale.rule ? ` ${scale.rule}` : "");
    byId("front").replaceChildren(sliderOver(
      frontDrawing(board, by, { systems, front, places, name }),
      points,
      { "aria-labelledby": "front-heading", "aria-describedby": "front-note" }
    ));
  }
  function placesOf(board, systems, scale) {
    const { height, left, right, top, bottom } = PLOT, width = widthOf(byId("trade-offs"));
    const numbers = systems.map(({ number }) => number), least = Math.min(...numbers), most = Math.max(...numbers);
    const logarithmic = least > 0 && most / least >= LOGARITHMIC, to = logarithmic ? Math.log10 : (number) => number;
    const [low, high] = [to(least), to(most)];
    const x = (number) => left + 16 + (width - left - right - 32) * (high > low ? (to(number) - low) / (high - low) : 0.5);
    const share = (value) => scale.high > scale.low ? (Math.min(scale.high, Math.max(scale.low, value)) - scale.low) / (scale.high - scale.low) : 0.5;
    const beyond = (value) => Number(value > scale.high) - Number(value < scale.low), upwards = board.better === "lower" ? -1 : 1;
    const y = (value) => top + 20 + (height - top - bottom - 40) * (upwards < 0 ? share(value) : 1 - share(value)) - 16 * upwards * beyond(value);
    const decades = range(Math.ceil(high) - Math.floor(low) + 1).flatMap((n) => [1, 2, 5].map((digit) => +`${digit}e${Math.floor(low) + n}`)).filter((number) => number >= least && number <= most);
    const powers = decades.filter((number) => /^1/.test(number.toExponential()));
    return {
      width,
      x,
      y,
      beyond,
      scale,
      logarithmic,
      pointOf: ({ number, value }) => ({ x: x(number), y: y(value) }),
      across: !logarithmic ? roundTicks(low, high, width / 100) : decades.length * 60 < width ? decades : powers.filter((_, n) => n % Math.ceil(powers.length * 60 / width) === 0),
      up: scale.high > scale.low ? roundTicks(scale.low, scale.high, 5) : [scale.low]
    };
  }
  function frontDrawing(board, by, { systems, front, places, name }) {
    const { height, right, left } = PLOT, { width, x, y, scale } = places;
    const end = view.more ? left : width - right;
    const steps = front.map((system, n) => n ? `H${x(system.number)}V${y(system.value)}` : `M${x(system.number)} ${y(system.value)}`);
    const lines = front.flatMap((system, n) => {
      const next = front[n + 1], from = places.pointOf(system), to = next ? places.pointOf(next) : { x: end, y: from.y };
      return [[from.x, from.y, to.x, from.y], [to.x, from.y, to.x, to.y]];
    });
    const mark = (system) => {
      const dot = system.dominatedBy ? "hollow" : "filled", { x: cx, y: cy } = places.pointOf(system), away = cy > height / 2 ? 1 : -1;
      return !places.beyond(system.value) ? svg("circle", { class: dot, cx, cy, r: 4.5 }) : svg("path", { class: dot, d: `M${cx} ${cy + 6 * away}l-5 ${-9 * away}h10z` });
    };
    const whisker = ({ number, low, high }) => low == null || high == null ? null : svg("line", { class: "whisker", x1: x(number), x2: x(number), y1: y(low), y2: y(high) });
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      places.up.map((value) => acrossAt(width, y(value), fixed(value, scale.digits))),
      places.across.map((number) => upAt(x(number), compactNumber.format(number))),
      svg("path", { class: "front", d: `${steps.join("")}H${end}` }),
      systems.map(whisker),
      systems.filter((system) => system.dominatedBy).map(mark),
      front.map(mark),
      placeLabels(systems, places, lines, name),
      titlesOf(
        width,
        titleOf(by) + (places.logarithmic ? ", logarithmic" : ""),
        visible(board.metric_label) + (board.better === "lower" ? ", lower is better, on top" : "")
      )
    );
  }
  function placeLabels(systems, { width, pointOf, beyond }, lines, name) {
    const pen = (
      /** @type {CanvasRenderingContext2D} */
      el("canvas").getContext("2d")
    );
    pen.font = "11px system-ui, sans-serif";
    const taken = [
      ...systems.map((system) => ({ x: pointOf(system).x - 5, y: pointOf(system).y - 5, width: 10, height: 10 })),
      ...lines.map(([x1, y1, x2, y2]) => ({
        x: Math.min(x1, x2) - 1,
        y: Math.min(y1, y2) - 1,
        width: Math.abs(x2 - x1) + 2,
        height: Math.abs(y2 - y1) + 2
      }))
    ];
    const free = (box) => box.x >= PLOT.left && box.x + box.width <= width - 2 && box.y >= 0 && box.y + box.height <= PLOT.height - PLOT.bottom && !taken.some((other) => box.x < other.x + other.width && other.x < box.x + box.width && box.y < other.y + other.height && other.y < box.y + box.height);
    return [...systems].sort((one, other) => Number(Boolean(one.dominatedBy)) - Number(Boolean(other.dominatedBy)) || one.n - other.n).slice(0, NAMED).map((system) => {
      const { x, y } = pointOf(system), full = name(system);
      const text = (full.length > 24 ? `${full.slice(0, 23)}…` : full) + (beyond(system.value) ? ` ${fixed(system.value)}` : "");
      const length = pen.measureText(text).width + 4;
      const box = [[8, -7], [-length - 8, -7], [-length / 2, -21], [-length / 2, 8], [6, -19], [6, 5], [-length - 6, -19], [-length - 6, 5]].map(([dx, dy]) => ({ x: x + dx, y: y + dy, width: length, height: 14 })).find(free);
      if (!box) return null;
      taken.push(box);
      return svg("text", { class: system.dominatedBy ? null : "title", x: box.x + 2, y: box.y + 11 }, text);
    });
  }
  var CHARTS = [
    { key: "matrix", title: "p-value of every pair", draw: drawMatrix },
    { key: "gains", title: "p-values and differences", draw: drawGains }
  ];
  var drawings = [];
  function drawCharts(board) {
    drawings = [];
    drawDifferences(board);
    drawPairs(board);
    drawTradeOffs(board);
  }
  function drawPairs(board) {
    byId("pairs").hidden = !board.pairs || board.n < 3;
    if (byId("pairs").hidden) return;
    const chosen = CHARTS.find(({ key }) => key === view.chart) ?? CHARTS[0];
    setView({ chart: chosen === CHARTS[0] ? "" : chosen.key });
    drawTabs(board, chosen);
    for (const { key } of CHARTS) byId(`chart-${key}`).hidden = key !== chosen.key;
    shown.all ??= indexPairs(board);
    byId("left-out").hidden = board.pairs.reach == null;
    byId("left-out").textContent = `This page has the pairs of systems up to ${board.pairs.reach} places apart, because all ${board.n_pairs.toLocaleString("en")} pairs would make it too large` + (board.files ? "; Differences shows all pairs of a system that you choose." : ".");
    chosen.draw(board, shown.all);
    drawings = drawings.filter(({ panel }) => panel !== byId("chart-gains"));
    if (chosen.key === "gains") redrawOnResize(byId("chart-gains"), () => drawPairs(board));
  }
  function drawTabs(board, chosen) {
    const open = (key) => {
      setView({ chart: key });
      drawPairs(board);
      byId(`tab-${key}`).focus();
    };
    const tab = ({ key, title }) => {
      const button = el("button", {
        type: "button",
        role: "tab",
        id: `tab-${key}`,
        "aria-controls": `chart-${key}`,
        "aria-selected": key === chosen.key ? "true" : "false",
        tabindex: key === chosen.key ? 0 : -1
      }, title);
      button.addEventListener("click", () => open(key));
      return button;
    };
    byId("tabs").replaceChildren(...CHARTS.map(tab));
    byId("tabs").onkeydown = (event) => {
      const now = CHARTS.indexOf(chosen), last = CHARTS.length - 1;
      const to = { ArrowRight: now === last ? 0 : now + 1, ArrowLeft: now ? now - 1 : last, Home: 0, End: last }[event.key];
      if (to === void 0) return;
      event.preventDefault();
      open(CHARTS[to].key);
    };
  }
  var redrawOnResize = (panel, draw2) => drawings.push({ panel, width: panel.clientWidth, draw: draw2 });
  function redrawCharts() {
    const changed = drawings.filter(({ panel, width }) => Math.abs(panel.clientWidth - width) > 8);
    drawings = drawings.filter((drawing) => !changed.includes(drawing));
    for (const { draw: draw2 } of changed) draw2();
  }

  // registry/reports/page/scripts/contents.js
  function drawContents() {
    const sections = (
      /** @type {HTMLElement[]} */
      [...document.querySelectorAll("main section:not(#system, #overview), footer section")].filter((section) => section.offsetParent !== null)
    );
    byId("contents").replaceChildren(...sections.map((section) => {
      const heading = (
        /** @type {HTMLElement} */
        section.querySelector("h2")
      );
      return el("a", { href: `#${heading.id}` }, heading.dataset.short ?? heading.textContent);
    }));
  }
  function markBoard(board) {
    const selects = (view2) => new URLSearchParams(Object.entries(view2).filter(([, value]) => value)).toString();
    const chosen = board && selects(viewOf(board));
    for (
      const link of
      /** @type {NodeListOf<HTMLAnchorElement>} */
      document.querySelectorAll("#overview a")
    ) {
      if (new URLSearchParams(link.hash.slice(1)).toString() === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
  function listenToContents(chooseBoard) {
    document.addEventListener("click", (event) => {
      const link = (
        /** @type {Element} */
        event.target.closest("a[href^='#']")
      );
      if (!link) return;
      const part = document.getElementById(link.getAttribute("href")?.slice(1) ?? "");
      if (link.closest("#overview")) chooseBoard();
      if (!part) return;
      event.preventDefault();
      part.scrollIntoView();
      part.focus({ preventScroll: true });
    });
  }

  // registry/reports/page/scripts/downloads.js
  function boardSheet(board) {
    const shared = (
      /** @type {Record<string, any>} */
      /** @type {unknown} */
      board
    );
    const value = (key, n) => key in board.standings ? cellAt(board.standings[key], n) : shared[key] ?? null;
    return {
      name: [board.test_set, board.track, board.facet, board.metric],
      keys: data.keys,
      latex: board.latex,
      rows: range(board.n).map((n) => data.keys.map((key) => value(key, n)))
    };
  }
  function wideSheet(wide) {
    const fixedKeys = ["system", "team", "kind"];
    const parts = (column2) => wide.parts.map((key) => [`${column2.name}${key === "score" ? "" : ` ${key}`}`, key]);
    const cellsOf = (column2, n) => parts(column2).map(([, key]) => {
      const place = cellAt(column2.at, n);
      return place == null ? null : cellAt(figuresOf(column2)[key], place);
    });
    return {
      name: [wide.track, "wide"],
      latex: wide.latex,
      keys: ["task", "track", ...fixedKeys, ...wide.columns.flatMap((column2) => parts(column2).map(([name]) => name))],
      rows: range(wide.n).map((n) => [
        data.task.id,
        wide.track,
        ...fixedKeys.map((key) => cellAt(wide.rows[key], n)),
        ...wide.columns.flatMap((column2) => cellsOf(column2, n))
      ])
    };
  }
  var FILES = [
    ["CSV", "csv", "text/csv", ({ keys, rows: rows2 }) => [keys, ...rows2].map((row) => `${row.map(csvCell).join(",")}
`).join("")],
    ["JSON", "json", "application/json", ({ keys, rows: rows2 }) => `${JSON.stringify(rows2.map((row) => Object.fromEntries(row.map((value, n) => [keys[n], value]))), null, 2)}
`],
    ["LaTeX", "tex", "application/x-tex", ({ latex }) => latex]
  ];
  function drawDownloads(sheetOf, { latex }) {
    byId("downloads").replaceChildren(...FILES.filter(([, ending]) => latex || ending !== "tex").map(([title, ending, type, write]) => {
      const button = el("button", { type: "button" }, title);
      button.addEventListener("click", () => {
        const sheet = sheetOf();
        const name = [data.task.id, ...sheet.name].filter(Boolean).join(".").replace(/[^\w.-]+/g, "_");
        const url = URL.createObjectURL(new Blob([write(sheet)], { type }));
        el("a", { href: url, download: `${name}.${ending}` }).click();
        setTimeout(() => URL.revokeObjectURL(url), 1e4);
      });
      return button;
    }));
  }

  // registry/reports/page/scripts/item-data.js
  var RESPONSE_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  function itemsOf(board) {
    const all = data.items[board.test_set];
    if (!all) return null;
    const metric = all.metrics.indexOf(board.metric), sign = board.better === "lower" ? 1 : -1;
    const takesPart = (n) => (cellAt(all.tracks, n) ?? "") === (board.track ?? "");
    const participants = range(all.names.length).filter(takesPart);
    const better = (a, b) => Number(a.score == null) - Number(b.score == null) || sign * (a.score - b.score) || b.by.length - a.by.length;
    const items = all.items.filter((item) => !board.facet || item.facets.includes(board.facet)).map((item) => {
      const responses = item.contents.map((content, n) => ({ content, score: cellAt(item.scores[metric] ?? null, n), by: (
        /** @type {number[]} */
        []
      ) }));
      for (const n of participants) {
        responses[typeof item.by === "string" ? RESPONSE_DIGITS.indexOf(item.by[n]) : item.by[n]].by.push(n);
      }
      return { ...item, responses: responses.filter(({ by }) => by.length).sort(better) };
    });
    return {
      board,
      kind: all.kind,
      metric: board.metric,
      sign,
      names: all.names,
      takesPart,
      systemOf: (n) => numberOf(all, n, "teams", "systems"),
      leftOut: all.left_out,
      items: items.filter(({ responses }) => responses.length > 1)
    };
  }
  function wordsOf(itemSet, item) {
    if (item.tokens.length) return item.tokens.join(" ");
    if (itemSet.kind === "alignment") return `gold: ${linksCounted(item)}`;
    if (itemSet.kind !== "label") return item.gold.map(([, content]) => content).find((content) => typeof content === "string") ?? "";
    const given = item.responses.map(({ content: [added, lacking], by }) => `${added.length || !lacking.length ? `“${answerName(item, added[0] ?? 0)}”` : "no response"} by ${by.length}`);
    return `${given.join(", ")}; gold “${answerName(item, 0)}”`;
  }
  var responseOf = (item, n) => item.responses.findIndex((response) => response.by.includes(n));
  var chosenRuns = (itemSet) => chosenNames(itemSet.board).map((name) => systemNumbers.get(name)).filter((system) => system !== void 0).map((system) => range(itemSet.names.length).filter((n) => itemSet.takesPart(n) && itemSet.systemOf(n) === system)).filter((runs) => runs.length);
  var responsesBy = (item, runs) => String([...new Set(runs.map((n) => responseOf(item, n)))].sort());
  var isAnsweredDifferently = (item, chosen) => chosen.length === 2 && responsesBy(item, chosen[0]) !== responsesBy(item, chosen[1]);
  var isCorrect = (item, runs) => runs.every((n) => {
    const { wrong, missed } = judgeAnswers(item, item.responses[responseOf(item, n)].content);
    return !wrong.length && !missed.length;
  });
  var scoreOf = (item, runs, sign) => runs.reduce((sum, n) => sum + (item.responses[responseOf(item, n)].score ?? sign * Infinity), 0) / runs.length;
  function judgeAnswers(item, [added, lacking]) {
    const { sure, gold } = item.answers;
    return {
      right: [...range(sure).filter((n) => !lacking.includes(n)), ...added.filter((n) => n < gold)],
      wrong: added.filter((n) => n >= gold),
      missed: lacking
    };
  }
  var typeOfAnswer = ({ answers }, n) => answers.types[cellAt(answers.type, n)];
  function answerName(item, n) {
    const { key, first, last, head, word } = item.answers;
    const what = key ? key[n] : first ? `${first[n]}-${last[n]}` : `${head[n]}>${word[n]}`;
    return [typeOfAnswer(item, n), what].filter(Boolean).join(" ");
  }
  var goldLabel = (source) => (
    /** @type {Record<string, string>} */
    { gold: "gold", "gold source": "source" }[source] ?? source.replace(/^gold /, "reference ")
  );
  function openButton(text, label, content) {
    const button = el("button", { type: "button", class: "gap", "aria-label": label }, text);
    button.addEventListener("click", () => {
      const opened = el("span", { tabindex: -1 }, content());
      button.replaceWith(opened);
      opened.focus();
    });
    return button;
  }
  var answerMark = (content, right, title = right ? "in the gold" : "not in the gold") => el(
    "li",
    { class: right ? "right-answer" : "wrong-answer" },
    el("span", { class: "mark", role: "img", "aria-label": title }, right ? "✓" : "✗"),
    " ",
    content
  );
  var linksCounted = ({ answers: { sure, gold } }) => `${sure} sure${gold > sure ? `, ${gold - sure} possible` : ""}`;
  var MANY_ANSWERS = 12;
  function answerParts(itemSet, item) {
    const name = (n) => el("bdi", {}, harmless(answerName(item, n)));
    const list = (answers, right) => answers.map((n) => answerMark(name(n), right));
    const cell = (content) => {
      const { right, wrong, missed } = judgeAnswers(item, content), many = item.answers.gold >= MANY_ANSWERS;
      if (itemSet.kind === "label" && !right.length && !wrong.length) return el("i", {}, "no response");
      const answers = [...many ? [] : list(right, true), ...list(wrong, false)];
      return [
        many ? el("p", { class: "quiet" }, `${right.length} of ${item.answers.gold} correct`) : null,
        answers.length ? el("ul", { class: "answers" }, answers) : many ? null : el("span", { class: "quiet" }, "nothing"),
        missed.length && itemSet.kind !== "label" ? el("p", { class: "quiet" }, "misses ", missed.flatMap((n, k) => [k ? ", " : "", name(n)])) : null
      ];
    };
    const gold = range(item.answers.gold);
    const goldCell = gold.length ? el("ul", { class: "answers" }, list(gold, true)) : el("span", { class: "quiet" }, "nothing");
    return { titles: ["response"], golds: [["gold", [goldCell]]], cells: ({ content }) => [cell(content)] };
  }

  // registry/reports/page/scripts/item-drawings.js
  function treeParts(itemSet, item, responses) {
    const { head, word, sure } = item.answers;
    const arc = (n) => ({ word: word[n], head: head[n], type: harmless(typeOfAnswer(item, n)) });
    const gold = new Map(range(sure).map(arc).map((one) => [one.word, one]));
    const trees = new Map(responses.map((response) => [response, treeOf(response.content, arc, gold)]));
    const differing = [...gold.keys()].filter((place) => responses.some((response) => trees.get(response).lacking.has(place)));
    const further = responses.some((response) => trees.get(response).further.length);
    const figure = el("div", {});
    const action = (response) => {
      const button = el("button", { type: "button", class: "small", "aria-label": `draw the tree of ${visible(itemSet.names[response.by[0]])}` }, "tree");
      button.addEventListener("click", () => {
        figure.replaceChildren(treeFigure(itemSet, item, response, trees.get(response), gold));
        figure.firstChild.focus();
        figure.scrollIntoView({ block: "nearest" });
      });
      return button;
    };
    const cellsOf = ({ lacking, own, further: others }) => [
      ...differing.map((place) => lacking.has(place) ? arcChange(item, own.get(place), gold.get(place)) : el("span", { class: "quiet as-gold" }, el("span", { "aria-hidden": "true" }, "·"), el("span", { class: "unseen" }, "as the gold"))),
      ...further ? [others.length ? String(others.length) : ""] : []
    ];
    return {
      titles: [...differing.map((place) => wordOf(item, place)), ...further ? ["other words"] : []],
      golds: [["gold", [...differing.map((place) => arcOf(
        item,
        /** @type {any} */
        gold.get(place)
      )), ...further ? [""] : []]]],
      cells: (response) => cellsOf(trees.get(response)),
      action,
      before: runningText(el("p", { class: "sentence" }, harmless(item.tokens.join(" ")))),
      after: figure
    };
  }
  function treeOf([added, lacking], arc, gold) {
    const arcs = added.map(arc);
    return {
      lacking: new Set([...lacking.map(arc), ...arcs].map(({ word }) => word).filter((word) => gold.has(word))),
      further: arcs.filter(({ word }) => !gold.has(word)),
      own: new Map(arcs.map((one) => [one.word, one]))
    };
  }
  var wordOf = (item, place) => el("bdi", {}, harmless(item.tokens[place - 1] ?? ""), el("sub", {}, String(place)));
  var headWord = (item, head) => head === 0 ? "root" : typeof head === "number" ? wordOf(item, head) : "elsewhere";
  var arcOf = (item, { type, head }) => [el("bdi", {}, type), " ← ", headWord(item, head)];
  function arcChange(item, arc, gold) {
    if (!arc) return el("span", { class: "wrong-arc" }, "no such word");
    const relation = arc.type === gold.type ? [] : [el("bdi", {}, arc.type)];
    const head = arc.head === gold.head ? [] : ["← ", headWord(item, arc.head)];
    return el("span", { class: "wrong-arc" }, "✗ ", relation, relation.length && head.length ? " " : "", head);
  }
  var PAPER = 1050;
  function treeFigure(itemSet, item, response, tree, gold) {
    const arcs = [...gold.values()].map((one) => tree.lacking.has(one.word) ? tree.own.get(one.word) : one).filter(Boolean);
    const drawn = arcs.filter(({ head }) => typeof head === "number");
    const differs = (one) => tree.lacking.has(one.word);
    const places = wordPlaces(item.tokens, [...drawn, ...gold.values()]);
    const above = arcLevels(drawn), below = arcLevels([...gold.values()]);
    const rise = 18 * (1 + Math.max(1, ...above.values())), fall = 18 * (1 + Math.max(1, ...below.values()));
    const width = places[places.length - 1] + 60, base = rise + 6, lower = base + 26;
    const draw2 = (one, level, up) => arcPath(one, level, { x: places, y: up ? base : lower, sign: up ? -1 : 1, differs: differs(one), up });
    const wrong = tree.lacking.size, name = visible(itemSet.names[response.by[0]]);
    return el(
      "figure",
      { class: width > PAPER ? "tree beyond-paper" : "tree", tabindex: -1 },
      el(
        "figcaption",
        {},
        el("b", {}, nameElement(itemSet.names[response.by[0]])),
        el("span", { class: "of-drawing" }, " above the words, the gold below"),
        `: ${wrong} of ${gold.size} words differ.`
      ),
      el(
        "div",
        { class: "wide", role: "region", tabindex: 0, "aria-label": `Tree of ${name}` },
        svg(
          "svg",
          {
            width,
            height: lower + fall,
            viewBox: `0 0 ${width} ${lower + fall}`,
            role: "img",
            "aria-label": `Tree of ${name} and the gold's; the table above lists the words that differ`
          },
          drawn.map((one) => draw2(one, above.get(one), true)),
          [...gold.values()].map((one) => draw2(one, below.get(one), false)),
          item.tokens.map((form, n) => svg("text", { x: places[n], y: base + 17, "text-anchor": "middle" }, harmless(form)))
        )
      ),
      width > PAPER ? treeList(item, tree, gold) : ""
    );
  }
  function treeList(item, tree, gold) {
    const own = (place) => tree.own.has(place) ? arcOf(item, tree.own.get(place)) : "no such word";
    return el("ol", { class: "tree-list" }, item.tokens.map((form, n) => {
      const place = n + 1, arc = gold.has(place) ? arcOf(item, gold.get(place)) : "no arc";
      return el(
        "li",
        {},
        el("b", {}, el("bdi", {}, harmless(form))),
        " ",
        tree.lacking.has(place) ? [el("span", { class: "wrong-arc" }, "✗ ", own(place)), " (gold: ", arc, ")"] : arc
      );
    }));
  }
  function wordPlaces(tokens, arcs) {
    const pen = (
      /** @type {CanvasRenderingContext2D} */
      document.createElement("canvas").getContext("2d")
    );
    pen.font = `15px ${getComputedStyle(document.body).fontFamily}`;
    const widths = tokens.map((form) => Math.min(300, pen.measureText(harmless(form)).width));
    const places = [Math.max(40, widths[0] / 2 + 10)];
    for (let n = 1; n < tokens.length; n++) {
      const labels = arcs.filter(({ head, word }) => Math.min(head, word) === n && Math.max(head, word) === n + 1).map(({ type }) => pen.measureText(type).width * 0.8 + 14);
      places.push(places[n - 1] + Math.max(34, (widths[n - 1] + widths[n]) / 2 + 14, ...labels));
    }
    return places;
  }
  function arcLevels(arcs) {
    const ends = ({ head, word }) => [Math.min(head, word), Math.max(head, word)];
    const levels = /* @__PURE__ */ new Map(), span = (one) => ends(one)[1] - ends(one)[0];
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
      return svg(
        "g",
        { class: name },
        svg("line", { x1: to, x2: to, y1: y, y2: top }),
        tip,
        svg("text", { x: to, y: top + (sign < 0 ? -3 : 11), "text-anchor": "middle" }, label)
      );
    }
    const side = Math.sign(to - x[head - 1]), from = x[head - 1] + side * 5, end = to - side * 3;
    const arrow2 = svg("path", { class: "tip", d: `M ${end} ${y} l -3 ${sign * 6} h 6 z` });
    return svg(
      "g",
      { class: name },
      svg("path", { d: `M ${from} ${y} V ${top - sign * 5} Q ${from} ${top} ${from + side * 5} ${top} H ${end - side * 5} Q ${end} ${top} ${end} ${top - sign * 5} V ${y}` }),
      arrow2,
      svg("text", { x: (from + end) / 2, y: top + (sign < 0 ? -3 : 11), "text-anchor": "middle" }, label)
    );
  }
  var LINKS_AT_ONCE = 15;
  var WIDE_GRID = 60;
  function gridParts(itemSet, item, responses) {
    const { first, last, sure, gold } = item.answers;
    const link = (n) => `${first[n]}‑${last[n]}`;
    const written = (numbers) => numbers.map(link).join(" ");
    const linksOf2 = (numbers) => numbers.length <= LINKS_AT_ONCE ? written(numbers) : [
      written(numbers.slice(0, LINKS_AT_ONCE)),
      " ",
      openButton(`${numbers.length - LINKS_AT_ONCE} more`, `show ${numbers.length - LINKS_AT_ONCE} more links`, () => written(numbers.slice(LINKS_AT_ONCE)))
    ];
    const sides = [responses[0], responses.length > 1 ? responses.at(-1) : null];
    const holder = el("div", {});
    const redraw2 = () => holder.replaceChildren(linkGrid(itemSet, item, sides));
    const choose = (title, side) => {
      const options = [...responses.map((response, n) => [n, shortName(itemSet, response)]), [-1, "no system"]];
      const select = el("select", {}, options.map(([n, text]) => el("option", { value: n, selected: (responses[n] ?? null) === sides[side] }, text)));
      select.addEventListener("change", () => {
        sides[side] = responses[Number(select.value)] ?? null;
        redraw2();
      });
      return el("label", {}, title, " ", select);
    };
    redraw2();
    const cell = (content) => {
      const { right, wrong, missed } = judgeAnswers(item, content), possible = right.filter((n) => n >= sure).length;
      return [
        `${right.length - possible} of ${sure} sure`,
        gold > sure ? `, ${possible} of ${gold - sure} possible` : "",
        wrong.length ? el("span", { class: "wrong-arc" }, ", ✗ ", linksOf2(wrong)) : ", none incorrect",
        missed.length ? el("span", { class: "quiet" }, "; misses ", linksOf2(missed)) : ""
      ];
    };
    return {
      titles: ["links, source-target"],
      golds: [["gold", [linksCounted(item)]]],
      cells: ({ content }) => [cell(content)],
      before: el("div", { class: "link-grid" }, el("div", { class: "bar" }, choose("○ circle:", 0), choose("✕ cross:", 1)), holder)
    };
  }
  var shortName = (itemSet, { by }) => visible(itemSet.names[by[0]]) + (by.length > 1 ? ` and ${by.length - 1} more` : "");
  var gridWords = (used) => {
    const all = [...new Set(used)].sort((a, b) => a - b);
    return all.at(-1) > WIDE_GRID ? all : range(all.at(-1) ?? 0).map((n) => n + 1);
  };
  function linkGrid(itemSet, item, sides) {
    const { first, last, sure, gold } = item.answers;
    const given = sides.map((side) => new Set(side ? [...judgeAnswers(item, side.content).right, ...judgeAnswers(item, side.content).wrong] : []));
    const links = range(first.length).filter((n) => n < gold || given.some((theirs) => theirs.has(n)));
    const rows2 = gridWords(links.map((n) => first[n])), columns = gridWords(links.map((n) => last[n]));
    const size = Math.max(rows2.length, columns.length) > 40 ? 11 : 15, edge = 26;
    const x = (n) => edge + columns.indexOf(last[n]) * size, y = (n) => edge + rows2.indexOf(first[n]) * size;
    const width = edge + columns.length * size + 2, height = edge + rows2.length * size + 2;
    const numbers = (words, place) => words.map((word, n) => word % 5 && word !== 1 && words.length > 12 ? null : place(word, n));
    const drawn = links.map((n) => svg(
      "g",
      {},
      svg("title", {}, linkTitle(itemSet, `${first[n]}-${last[n]}`, n < sure ? "sure" : n < gold ? "possible" : "not in the gold", sides.filter((_, k) => given[k].has(n)))),
      n < gold ? svg("rect", { class: n < sure ? "sure" : "possible", x: x(n) + 1.5, y: y(n) + 1.5, width: size - 3, height: size - 3 }) : null,
      given[0].has(n) ? svg("circle", { class: "first", cx: x(n) + size / 2, cy: y(n) + size / 2, r: size * 0.34 }) : null,
      given[1].has(n) ? svg("path", { class: "second", d: `M ${x(n) + 3.5} ${y(n) + 3.5} l ${size - 7} ${size - 7} m 0 ${7 - size} l ${7 - size} ${size - 7}` }) : null
    ));
    const label = `Links of ${sides.filter(Boolean).map((side) => shortName(itemSet, side)).join(" and of ")} in the gold's; the table below lists incorrect and missed links`;
    return el(
      "div",
      {},
      el(
        "div",
        { class: "wide", role: "region", tabindex: 0, "aria-label": "Grid of links" },
        svg(
          "svg",
          { class: "links", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
          [
            ...range(rows2.length + 1).map((n) => svg("line", { x1: edge, x2: width - 2, y1: edge + n * size, y2: edge + n * size })),
            ...range(columns.length + 1).map((n) => svg("line", { y1: edge, y2: height - 2, x1: edge + n * size, x2: edge + n * size }))
          ],
          numbers(rows2, (word, n) => svg("text", { x: edge - 4, y: edge + (n + 0.75) * size, "text-anchor": "end" }, String(word))),
          numbers(columns, (word, n) => svg("text", { x: edge + (n + 0.5) * size, y: edge - 5, "text-anchor": "middle" }, String(word))),
          drawn
        )
      ),
      el(
        "p",
        { class: "quiet" },
        el("span", { class: "on-paper" }, sides.map((side, k) => side && `${"○✕"[k]} ${shortName(itemSet, side)}. `)),
        `Down the source's words, across the target's. Filled squares are the gold's sure links${gold > sure ? ", dashed ones its possible links" : ""}.`
      )
    );
  }
  var linkTitle = (itemSet, link, where, by) => `${link}: ${where}; ${by.length ? by.map((side) => shortName(itemSet, side)).join(", ") : "neither"}`;
  var AXIS = 180;
  var FIRST_DOCUMENTS = 10;
  function numberParts(_, item) {
    const leading = (content) => content?.[0]?.[1];
    const gold = item.gold.map(([, content]) => leading(content)).find((value) => value != null);
    const values = [...item.responses.map(({ content }) => leading(content)), gold].filter((value) => value != null);
    const low = Math.min(...values), high = Math.max(...values);
    const x = (value) => 6 + (AXIS - 12) * (high > low ? (value - low) / (high - low) : 0.5);
    const axis = (value) => svg(
      "svg",
      { class: "interval number-axis", width: AXIS, height: 16, viewBox: `0 0 ${AXIS} 16`, "aria-hidden": "true" },
      svg("line", { class: "rail", x1: 6, x2: AXIS - 6, y1: 8, y2: 8 }),
      gold == null ? null : svg("line", { class: "tick-of-gold", x1: x(gold), x2: x(gold), y1: 1, y2: 15 }),
      value == null ? null : svg("circle", { cx: x(value), cy: 8, r: 3.5 })
    );
    const shown2 = (content) => [
      el("span", { class: "numbers" }, content.map(([name, value], n) => [n ? ", " : "", name ? `${visible(name)} ` : "", plainNumber(value)])),
      " ",
      axis(leading(content))
    ];
    const cell = (content) => content == null ? el("i", {}, "no response") : el("div", { class: "numbered" }, shown2(content));
    return {
      titles: ["response"],
      cells: ({ content }) => [cell(content)],
      golds: item.gold.filter(([, content]) => content != null).map(([source, content]) => [goldLabel(source), [el("div", { class: "numbered" }, shown2(content))]])
    };
  }
  function rankingParts(_, item) {
    const { key, relevance, gold } = item.answers;
    const documentOf = (n) => {
      const judged = cellAt(relevance, n) ?? null, name = el("bdi", {}, harmless(key[n]));
      if (n < gold) return answerMark(judged > 1 ? [name, ` (${judged})`] : name, true, "relevant");
      return judged == null ? el("li", {}, el("span", { class: "mark quiet", role: "img", "aria-label": "not judged" }, "?"), " ", name) : answerMark(name, false, "not relevant");
    };
    const list = (numbers) => [
      el("ol", { class: "answers ranked" }, numbers.slice(0, FIRST_DOCUMENTS).map(documentOf)),
      numbers.length > FIRST_DOCUMENTS ? openButton(
        `${numbers.length - FIRST_DOCUMENTS} more`,
        `show ${numbers.length - FIRST_DOCUMENTS} more documents`,
        () => el("ol", { class: "answers ranked", start: FIRST_DOCUMENTS + 1 }, numbers.slice(FIRST_DOCUMENTS).map(documentOf))
      ) : null
    ];
    const cell = ([first, returned, found]) => [el("p", { class: "quiet" }, `${found} of ${gold} relevant among ${returned.toLocaleString("en")}`), list(first)];
    const goldCell = [el("p", { class: "quiet" }, `${gold} relevant`), list(range(gold))];
    return { titles: [`first ${FIRST_DOCUMENTS}`], golds: [["gold", [goldCell]]], cells: ({ content }) => [cell(content)] };
  }

  // registry/reports/page/scripts/item-texts.js
  var WORDS_AROUND = 8;
  var LONG_TEXT = 40;
  var SPAN_LANES = 4;
  function spanParts(_, item) {
    const { first, last, gold } = item.answers;
    const mark = (kind) => (n) => ({ from: first[n] - 1, to: last[n] - 1, type: harmless(typeOfAnswer(item, n)), kind });
    const keep = shownWords(item);
    const goldText = markSpans(item, keep, range(gold).map(mark("gold")));
    const shown2 = (content) => {
      const { right, wrong, missed } = judgeAnswers(item, content);
      return markSpans(item, keep, [...right.map(mark("right")), ...wrong.map(mark("wrong")), ...missed.map(mark("missed"))]);
    };
    return { titles: ["response"], golds: [["gold", [goldText]]], cells: ({ content }) => [shown2(content)] };
  }
  function shownWords({ tokens, answers }) {
    const keep = tokens.map(() => tokens.length <= LONG_TEXT);
    answers.first.forEach((from, n) => keep.fill(true, Math.max(0, from - 1 - WORDS_AROUND), answers.last[n] + WORDS_AROUND));
    for (let from = keep.indexOf(false); from >= 0; from = keep.indexOf(false, from + 1)) {
      const end = keep.indexOf(true, from), to = end < 0 ? keep.length : end;
      if (to - from < WORDS_AROUND) keep.fill(true, from, to);
      from = to;
    }
    return keep;
  }
  function markSpans({ tokens }, keep, marks) {
    const missedLast = ({ kind }) => kind === "missed";
    marks.sort((a, b) => Number(missedLast(a)) - Number(missedLast(b)) || a.from - b.from || b.to - a.to);
    const lanes = (
      /** @type {any[][]} */
      []
    );
    for (const mark of marks) {
      const free = lanes.findIndex((lane) => lane.every(({ from, to }) => to < mark.from || from > mark.to));
      mark.lane = free < 0 ? lanes.push([]) - 1 : free;
      lanes[mark.lane].push(mark);
    }
    const ends = /* @__PURE__ */ new Set([0, tokens.length, ...marks.flatMap(({ from, to }) => [from, to + 1])]);
    keep.forEach((kept, n) => {
      if (n && kept !== keep[n - 1]) ends.add(n);
    });
    const places = [...ends].filter((place) => place <= tokens.length).sort((a, b) => a - b);
    const parts = places.slice(1).flatMap((end, k) => markWords(
      tokens.slice(places[k], end),
      keep[places[k]],
      end,
      marks.filter(({ from, to }) => from <= places[k] && to >= end - 1)
    ));
    const text = runningText(parts);
    text.classList.add(`lanes-${Math.min(lanes.length, SPAN_LANES)}`);
    marks.sort((a, b) => a.from - b.from);
    return [text, el("p", { class: "unseen" }, marks.length ? marks.map(spanLabel(tokens)).join("; ") : "no span")];
  }
  function markWords(words, kept, end, marks) {
    const text = harmless(words.join(" "));
    if (!kept) return [openButton("…", `show ${words.length} more words`, () => text), " "];
    const within = (content, { kind, lane }, ...type) => el("span", { class: `span-${kind} lane-${lane % SPAN_LANES}` }, content, type);
    const ending = marks.filter(({ to }) => to === end - 1), going = marks.filter(({ to }) => to >= end);
    const inner = ending.reduce((content, mark) => within(content, mark, typeLabel(mark)), text);
    return going.length ? [going.reduce((content, mark) => within(content, mark), [inner, " "])] : [inner, " "];
  }
  var SPAN_SIGNS = { gold: "", right: "✓", wrong: "✗", missed: "missed" };
  var typeLabel = ({ type, kind }) => el("span", { class: "type", "aria-hidden": "true" }, [SPAN_SIGNS[kind], type].filter(Boolean).join(" "));
  var SPAN_LABELS = { gold: "", right: "in the gold", wrong: "not in the gold", missed: "missed" };
  var spanLabel = (tokens) => ({ from, to, type, kind }) => [type, `“${harmless(tokens.slice(from, to + 1).join(" "))}”`, SPAN_LABELS[kind]].filter(Boolean).join(" ");
  var STRIP = 520;
  function stripParts(itemSet, item) {
    const { first, last, gold } = item.answers, parts = answerParts(itemSet, item);
    const low = Math.min(...first), high = Math.max(...last) + 1;
    const x = (position) => 1 + (STRIP - 2) * (position - low) / (high - low);
    const drawn = (kind) => (n) => svg("rect", {
      class: kind,
      x: x(first[n]),
      y: { right: 1, wrong: 7, missed: 13 }[kind],
      rx: 1,
      width: Math.max(2, x(last[n] + 1) - x(first[n])),
      height: 5
    });
    const strip = (right, wrong, missed) => svg(
      "svg",
      { class: "strip", viewBox: `0 0 ${STRIP} 19`, preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("line", { x1: 1, x2: STRIP - 1, y1: 9.5, y2: 9.5 }),
      right.map(drawn("right")),
      wrong.map(drawn("wrong")),
      missed.map(drawn("missed"))
    );
    const above = (content, cells) => {
      const { right, wrong, missed } = judgeAnswers(item, content);
      return [[strip(right, wrong, missed), ...cells]];
    };
    return {
      ...parts,
      golds: [["gold", [[strip(range(gold), [], []), ...parts.golds[0][1]]]]],
      cells: ({ content }) => above(content, parts.cells({ content }))
    };
  }
  var DIFF_CELLS = 4e6;
  var UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
  var WORD_PATTERN = new RegExp(`\\s+|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}'’_-])+|(?:(?!\\s|(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}'’_-]).)+`, "gsu");
  var graphemesOf = window.Intl?.Segmenter ? new Intl.Segmenter(void 0, { granularity: "grapheme" }) : null;
  var givenSource = ([source]) => source === "gold source";
  function textBases(itemSet) {
    const references = [...new Set(itemSet.items.flatMap(({ gold }) => gold.filter((one) => !givenSource(one)).map(([source]) => source)))];
    const several = itemSet.items.some((item) => referencesOf(item).length > 1);
    return [
      ["", several ? "the nearest reference" : "the reference"],
      ...several ? references.map((source) => [source, goldLabel(source)]) : [],
      ["first", "the first of two systems"],
      ["none", "nothing"]
    ];
  }
  var referencesOf = ({ gold }) => [...new Set(gold.filter((one) => !givenSource(one)).map(([, text]) => text))];
  function textParts(_, item, _responses, chosen) {
    const golds = /* @__PURE__ */ new Map();
    for (const [source, text] of [...item.gold].sort((a, b) => Number(givenSource(b)) - Number(givenSource(a)))) {
      golds.set(text, [...golds.get(text) ?? [], goldLabel(source)]);
    }
    const chosenReference = item.gold.find(([source]) => source === view.diff);
    const compared = view.diff === "none" ? [] : view.diff !== "first" ? chosenReference ? [chosenReference[1]] : referencesOf(item) : chosen.length === 2 ? [item.responses[responseOf(item, chosen[0])].content].filter((text) => text != null) : [];
    const cell = (content) => {
      if (content == null) return el("i", {}, "no response");
      if (!compared.length || compared.includes(content)) return runningText(harmless(content));
      const { steps, base } = compared.map((text) => ({ base: text, steps: wordSteps(text, content) })).sort((a, b) => countEdits(a) - countEdits(b))[0];
      const what = steps ? compared.length > 1 ? `against ${(golds.get(base) ?? []).join(", ")}` : "" : "too long to be compared word by word";
      return [runningText(steps ? joinEdits(steps) : harmless(content)), what ? el("p", { class: "quiet" }, visible(what)) : null];
    };
    return {
      titles: ["response"],
      golds: [...golds].map(([text, sources]) => [sources.join(", "), [runningText(harmless(text))]]),
      cells: ({ content }) => [cell(content)]
    };
  }
  var countEdits = ({ steps }) => steps ? steps.filter(([kind]) => kind !== "same").length : Infinity;
  function splitWords(text) {
    const found = (
      /** @type {{ word: string, after: string }[]} */
      []
    );
    for (const [part] of text.matchAll(WORD_PATTERN)) {
      const one = /^[\p{L}\p{M}\p{N}'’_-]/u.test(part) && !new RegExp(`[${UNSPACED}]`, "u").test(part);
      if (/^\s/.test(part)) {
        if (found.length) found[found.length - 1].after = " ";
      } else {
        const words = one ? [part] : graphemesOf ? [...graphemesOf.segment(part)].map(({ segment }) => segment) : [...part];
        found.push(...words.map((word) => ({ word, after: "" })));
      }
    }
    return found;
  }
  function wordSteps(from, to) {
    const a = splitWords(from), b = splitWords(to);
    let start = 0, end = 0;
    while (start < Math.min(a.length, b.length) && a[start].word === b[start].word) start++;
    while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end].word === b[b.length - 1 - end].word) end++;
    const inA = a.slice(start, a.length - end), inB = b.slice(start, b.length - end), same = (word) => ["same", word];
    if ((inA.length + 1) * (inB.length + 1) > DIFF_CELLS) return null;
    return [...b.slice(0, start).map(same), ...wordEdits(inA, inB), ...b.slice(b.length - end).map(same)];
  }
  function wordEdits(a, b) {
    const width = b.length + 1, common = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        common[i * width + j] = a[i].word === b[j].word ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
      }
    }
    const found = [];
    for (let i = 0, j = 0; i < a.length || j < b.length; ) {
      if (i < a.length && j < b.length && a[i].word === b[j].word) {
        found.push(["same", b[j++]]);
        i++;
      } else if (i < a.length && (j === b.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
        found.push(["del", a[i++]]);
      } else found.push(["ins", b[j++]]);
    }
    return found;
  }
  function joinEdits(steps) {
    const nodes = [], spaced = new RegExp(`(?![${UNSPACED}])[\\p{L}\\p{N}]`, "u");
    let last = "";
    for (let n = 0; n < steps.length; ) {
      const [kind] = steps[n], words = [];
      while (n < steps.length && steps[n][0] === kind) words.push(steps[n++][1]);
      const text = words.map(({ word, after }) => word + after).join("");
      if (spaced.test(last.slice(-1)) && spaced.test(text[0])) nodes.push(" ");
      nodes.push(kind === "same" ? harmless(text) : el(kind, {}, harmless(text.trimEnd())));
      if (kind !== "same" && text.endsWith(" ")) nodes.push(" ");
      last = text;
    }
    return nodes;
  }

  // registry/reports/page/scripts/versus.js
  function redraw(draw2) {
    const focused = document.activeElement?.id;
    draw2();
    if (focused) byId(focused)?.focus();
  }
  function chooseTwo(board, changes) {
    setView(changes);
    redraw(() => {
      drawVersus(board);
      drawItems(board);
    });
  }
  function drawVersus(board) {
    byId("versus").hidden = board.n < 2;
    if (board.n < 2) return;
    const options = [["", "no system"], ...range(board.n).map((place) => {
      const name = nameOf(numberOf(board.standings, place));
      return [name, name];
    })];
    byId("versus-bar").replaceChildren(...[["First system", "a"], ["Second system", "b"]].map(([label, side]) => selectOf(label, options, view[side], (value) => chooseTwo(board, { [side]: value }))));
    byId("versus-bar").hidden = board.n === 2;
    const two = chosenNames(board).map((name) => systemNumbers.get(name));
    const both = two.every((n) => n !== void 0 && placeOn(board, n) !== void 0) && two[0] !== two[1];
    byId("versus").classList.toggle("unprinted", !both);
    byId("versus-body").replaceChildren(...(both ? [compareScores(board, two[0], two[1]), ...regionsOf(board, two[0], two[1]), countDifferingItems(board)] : [el("p", { class: "quiet" }, "Choose two systems to see their difference by every metric, and the answers that only one of them gives.")]).filter((node) => node != null));
  }
  function compareScores(board, a, b) {
    const boards = data.boards.filter((other) => (other.track ?? "") === (board.track ?? "") && placeOn(other, a) !== void 0 && placeOn(other, b) !== void 0);
    const rows2 = boards.map((other) => {
      const i = placeOn(other, a), j = placeOn(other, b), all = boardPairs(other);
      return { other, i, j, figures: all?.find(i, j) === void 0 ? null : pairFigures(other, all, i, j) };
    });
    const score = (other, place) => withMinus(cellAt(other.standings.printed, place));
    const facets = boards.some((other) => other.facet != null), sets = new Set(boards.map((other) => other.test_set)).size > 1;
    return scrollable("Difference of the two systems", tableOf([
      column(boardHeading("test_set"), ({ other }) => visible(other.test_set), { isShown: sets }),
      column(boardHeading("facet"), ({ other }) => other.facet == null ? WHOLE.facet : visible(other.facet), { isShown: facets }),
      column(boardHeading("metric"), ({ other }) => el("a", { href: hrefWith(viewOf(other)) }, visible(other.metric)), { isHeader: true }),
      numberColumn(nameElement(nameOf(a)), ({ other, i }) => score(other, i)),
      numberColumn(nameElement(nameOf(b)), ({ other, j }) => score(other, j)),
      numberColumn(differenceHeading(boards), ({ figures }) => figures?.difference ?? "not on this page"),
      numberColumn(
        pairHeading("interval"),
        ({ other, figures }) => figures?.interval ? `${figures.interval} (${100 * other.confidence} %)` : "",
        { isShown: rows2.some(({ figures }) => figures?.interval) }
      ),
      numberColumn(pairHeading("p_value"), ({ figures }) => figures?.p ?? ""),
      numberColumn(pairHeading("p_adjusted"), ({ figures }) => figures?.adjusted ?? "", { isShown: boards.some((other) => other.corrected) }),
      column("significantly better", ({ figures, i, j }) => !figures ? "" : figures.significant ? nameElement(nameOf(i < j ? a : b)) : "neither"),
      column(
        pairHeading("messages"),
        ({ figures }) => figures ? el("span", { class: "said" }, visible(figures.notes.join(". "))) : "",
        { isShown: rows2.some(({ figures }) => figures?.notes.length) }
      )
    ], rows2, { id: "versus-metrics" }));
  }
  function regionsOf(board, a, b) {
    const regions = data.details.regions[board.test_set];
    if (!regions) return [];
    const k = regions.a.findIndex((first, n) => first === a && regions.b[n] === b || first === b && regions.b[n] === a);
    const title = el("h3", {}, "Answers of one and of both");
    if (k < 0) {
      return [title, el("p", { class: "quiet" }, "This page has these counts only for systems next to each other on the leaderboard, and for each system and the best one.")];
    }
    const counts = (name) => [cellAt(regions[`${name}_tp`], k), cellAt(regions[`${name}_fp`], k)];
    const [d1, d2] = regions.a[k] === a ? ["d1", "d2"] : ["d2", "d1"];
    const rows2 = [
      [["only ", nameElement(nameOf(a)), " (D1)"], ...counts(d1)],
      [["only ", nameElement(nameOf(b)), " (D2)"], ...counts(d2)],
      [["both"], ...counts("shared")]
    ];
    const most = Math.max(1, ...rows2.map(([, right, wrong]) => right + wrong));
    const count = (n) => Number.isInteger(n) ? n.toLocaleString("en") : fixed(n, 1);
    return [
      title,
      el("p", { class: "quiet" }, `On all items of ${visible(board.test_set)}, whose gold has ${counted(regions.gold, "answer")}. Answers of both do not show which is better.`),
      scrollable("Answers that one or both give", tableOf([
        column("answers of", ([who]) => who, { isHeader: true }),
        numberColumn("answers", ([, right, wrong]) => count(right + wrong)),
        numberColumn("correct", ([, right]) => count(right)),
        numberColumn("incorrect", ([, , wrong]) => count(wrong)),
        numberColumn("share correct", ([, right, wrong]) => right + wrong ? percent(right / (right + wrong)) : "–"),
        column("", ([, right, wrong]) => drawBar(right, wrong, most))
      ], rows2, { id: "regions" }))
    ];
  }
  var drawBar = (right, wrong, most) => svg(
    "svg",
    { class: "stacked", width: 160, height: 10, "aria-hidden": "true" },
    svg("rect", { class: "wins", x: 0, y: 0, width: 160 * right / most, height: 10 }),
    svg("rect", { class: "losses", x: 160 * right / most, y: 0, width: 160 * wrong / most, height: 10 })
  );
  function countDifferingItems(board) {
    const itemSet = itemsOf(board);
    if (!itemSet?.items.length) return null;
    const chosen = chosenRuns(itemSet), n = itemSet.items.filter((item) => isAnsweredDifferently(item, chosen)).length;
    const button = el("button", { type: "button" }, "Show these");
    button.addEventListener("click", () => {
      byId("items-heading").scrollIntoView();
      byId("items-heading").focus({ preventScroll: true });
    });
    return el(
      "p",
      {},
      `They answer ${n} of ${counted(itemSet.items.length, "item")} below differently. `,
      n ? button : null
    );
  }

  // registry/reports/page/scripts/items.js
  var NAMES_AT_ONCE = 12;
  function responsesTo(itemSet, item, chosen) {
    const responses = item.responses.filter(({ by }) => !chosen.length || by.some((n) => chosen.includes(n)));
    const drawers = {
      text: textParts,
      number: numberParts,
      ranking: rankingParts,
      tree: treeParts,
      alignment: gridParts,
      span: item.tokens.length ? spanParts : stripParts
    };
    const parts = (drawers[itemSet.kind] ?? answerParts)(itemSet, item, responses, chosen);
    const many = parts.titles.length > 1;
    const inRow = (cells, score) => many ? [score, ...cells] : [...cells, score];
    const untabled = (title) => el("span", { class: "untabled", "aria-hidden": "true" }, title.cloneNode?.(true) ?? title, " ");
    const cellsOf = (contents, score) => inRow(
      contents.map((content, n) => el("td", {}, many && content !== "" ? untabled(parts.titles[n]) : null, content)),
      el("td", { class: "right" }, score === "" ? null : untabled(visible(itemSet.metric)), score)
    );
    const table = el(
      "table",
      { class: many ? "responses many" : "responses" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "by"), inRow(
        parts.titles.map((title) => el("th", { scope: "col" }, title)),
        el("th", { scope: "col", class: "right" }, visible(itemSet.metric))
      ))),
      el(
        "tbody",
        {},
        parts.golds.map(([label, cells]) => el("tr", { class: "gold" }, el("th", { scope: "row" }, visible(label)), cellsOf(cells, ""))),
        responses.map((response) => el(
          "tr",
          {},
          el("th", { scope: "row" }, systemsBy(itemSet, response.by.filter((n) => !chosen.length || chosen.includes(n))), parts.action?.(response)),
          cellsOf(parts.cells(response), response.score == null ? "–" : fixed(response.score))
        ))
      )
    );
    return [
      parts.before,
      el("div", { class: "wide tall", role: "region", tabindex: 0, "aria-label": `Responses to item ${visible(item.item)}` }, table),
      parts.after
    ].filter(Boolean);
  }
  function systemsBy(itemSet, by) {
    const names = (some) => some.flatMap((n, k) => [k ? ", " : "", nameElement(itemSet.names[n])]);
    if (by.length <= NAMES_AT_ONCE) return names(by);
    const others = by.slice(NAMES_AT_ONCE - 2);
    return [...names(by.slice(0, NAMES_AT_ONCE - 2)), " ", openButton(`and ${others.length} more`, `show ${others.length} more systems`, () => [", ", ...names(others)])];
  }
  var ITEM_STEP = 25;
  var ITEM_ORDERS = [["", "most disagreement first"], ["hard", "hardest first"], ["place", "as in the test set"]];
  var shownItems = ITEM_STEP;
  var openedItem = "";
  function meanScore({ responses }) {
    const scored = responses.filter(({ score }) => score != null), n = scored.reduce((sum, { by }) => sum + by.length, 0);
    return n ? scored.reduce((sum, { score, by }) => sum + score * by.length, 0) / n : null;
  }
  function orderItems(itemSet, items) {
    if (view.order === "place") return [...items].sort((a, b) => a.place - b.place);
    if (view.order !== "hard") return items;
    const means = new Map(items.map((item) => [item, meanScore(item)]));
    return [...items].sort((a, b) => Number(means.get(a) == null) - Number(means.get(b) == null) || itemSet.sign * (means.get(b) - means.get(a)));
  }
  function matchesText(item, wanted) {
    item.words ??= JSON.stringify([
      item.item,
      item.tokens.join(" "),
      item.gold,
      item.contents.filter((content) => typeof content === "string"),
      item.answers.key ?? "",
      item.answers.types
    ]).toLowerCase();
    return item.words.includes(JSON.stringify(wanted.toLowerCase()).slice(1, -1));
  }
  function drawItems(board) {
    const itemSet = itemsOf(board);
    byId("items").hidden = !itemSet?.items.length;
    if (!itemSet?.items.length) return;
    shownItems = ITEM_STEP;
    const where = [board.test_set, board.track && `track ${board.track}`, board.facet].filter(Boolean).map(visible).join(", ");
    const one = itemSet.items.length === 1;
    byId("items-what").replaceChildren(
      `${one ? "The item" : `The ${itemSet.items.length} items`} of ${where} on which responses differ most, scored by ${visible(itemSet.metric)}. Select ${one ? "it" : "an item"} to see the gold and all responses.`,
      el("span", { class: "keys" }, one ? "" : " Arrow keys go from item to item; in an open item, n and p go to the next and the previous one."),
      itemSet.leftOut ? ` ${itemSet.leftOut} more are left out, because the page would be too large.` : ""
    );
    drawItemsBar(board, itemSet);
    listItems(itemSet);
    if (view.item && view.item !== openedItem) nodeOf(view.item)?.scrollIntoView();
    openedItem = view.item;
  }
  function drawItemsBar(board, itemSet) {
    const changed = (key) => (value) => {
      setView({ [key]: value });
      listItems(itemSet);
    };
    const present = new Set(range(itemSet.names.length).filter(itemSet.takesPart).map(itemSet.systemOf));
    const systems = [["", "all"], ...[...present].filter((n) => n !== void 0).map((n) => [nameOf(n), nameOf(n)])];
    const side = (key) => (value) => chooseTwo(board, { [key]: value });
    const chosen = chosenRuns(itemSet), [a, b] = chosenNames(board), facets = board.facet ? [] : [...new Set(itemSet.items.flatMap((item) => item.facets))].sort();
    const find = el("input", { type: "search", autocomplete: "off", value: view.find, placeholder: "words, answers, names" });
    find.addEventListener("input", () => changed("find")(find.value));
    byId("items-bar").replaceChildren(
      selectOf("System A", systems, a, side("a")),
      selectOf("System B", systems, b, side("b")),
      ...itemSet.items.length > 1 && chosen.length ? [selectOf("Show", correctnessChoices(itemSet, chosen), view.correct, changed("correct"))] : [],
      ...itemSet.items.length > 1 ? [selectOf("Order", ITEM_ORDERS, view.order, changed("order"))] : [],
      ...facets.length > 1 ? [selectOf("Items on", [["", "all"], ...facets.map((facet) => [facet, facet])], view.on, changed("on"))] : [],
      ...itemSet.kind === "text" ? [selectOf("Changes from", textBases(itemSet), view.diff, changed("diff"))] : [],
      ...itemSet.items.length > 1 ? [
        el("label", {}, "Find ", find),
        el("span", { id: "items-found", class: "quiet", "aria-live": "polite" })
      ] : []
    );
  }
  var CORRECTNESS = {
    "": (item, chosen) => chosen.length < 2 || isAnsweredDifferently(item, chosen),
    first: (item, [a, b]) => isCorrect(item, a) && !(b && isCorrect(item, b)),
    second: (item, [a, b]) => !isCorrect(item, a) && isCorrect(item, b),
    both: (item, chosen) => chosen.every((runs) => isCorrect(item, runs)),
    neither: (item, chosen) => !chosen.some((runs) => isCorrect(item, runs)),
    better: (item, [a, b], sign) => sign * (scoreOf(item, a, sign) - scoreOf(item, b, sign)) < 0,
    worse: (item, [a, b], sign) => sign * (scoreOf(item, a, sign) - scoreOf(item, b, sign)) > 0
  };
  var UNJUDGED = ["text", "number", "ranking"];
  function correctnessChoices({ kind, sign }, chosen) {
    const isJudged = !UNJUDGED.includes(kind), compared = sign < 0 ? "a higher score" : "a lower score";
    if (chosen.length < 2) return [["", "all"], ...isJudged && chosen.length ? [["first", "correct"], ["neither", "not correct"]] : []];
    return [
      ["", "different answers"],
      ...isJudged ? [["first", "A correct, B not"], ["second", "B correct, A not"], ["both", "both correct"], ["neither", "neither correct"]] : [],
      ["better", `${compared} of A`],
      ["worse", `${compared} of B`]
    ];
  }
  function listItems(itemSet) {
    const chosen = chosenRuns(itemSet);
    const isOffered = correctnessChoices(itemSet, chosen).some(([value]) => value === view.correct);
    const selects = CORRECTNESS[isOffered ? view.correct : ""];
    const fits = (item) => selects(item, chosen, itemSet.sign) && (!view.on || item.facets.includes(view.on)) && (!view.find || matchesText(item, view.find));
    const items = orderItems(itemSet, itemSet.items.filter(fits));
    const shown2 = items.slice(0, shownItems);
    const wanted = items.find((item) => item.item === view.item);
    if (wanted && !shown2.includes(wanted)) shown2.push(wanted);
    const more = el("button", { type: "button", hidden: items.length <= shownItems }, "Show more items");
    more.addEventListener("click", () => {
      shownItems += ITEM_STEP;
      listItems(itemSet);
      byId("item-list").querySelectorAll("summary")[shownItems - ITEM_STEP]?.focus();
    });
    byId("item-list").replaceChildren(...shown2.length ? shown2.map((item) => itemOf(itemSet, item, chosen.flat())) : [el("p", {}, chosen.length < 2 ? "No item matches." : "No item matches these two systems and filters.")], more);
    if (byId("items-found")) byId("items-found").textContent = items.length === itemSet.items.length ? "" : `${items.length} of ${itemSet.items.length} items`;
  }
  var nodeOf = (name) => [...byId("item-list").querySelectorAll("details")].find((node) => node.dataset.item === name);
  function itemOf(itemSet, item, chosen) {
    const differ = item.responses.length;
    const body = el("div", { class: `opened-item of-${itemSet.kind}` });
    const node = el("details", { "data-item": item.item }, el(
      "summary",
      {},
      el("b", {}, nameElement(item.item)),
      el("span", { class: "quiet" }, ` ${differ === 1 ? "one response" : `${differ} different responses`} `),
      el("bdi", { class: "snippet" }, harmless(wordsOf(itemSet, item).slice(0, 300)))
    ), body);
    node.addEventListener("toggle", () => {
      if (node.open && !body.firstChild) body.append(...responsesTo(itemSet, item, chosen), itemLinks(item));
      if (node.open) setView({ item: item.item });
      else if (view.item === item.item) setView({ item: "" });
      openedItem = view.item;
    });
    node.open = item.item === view.item;
    return node;
  }
  function itemLinks(item) {
    const button = (title, step) => {
      const node = el("button", { type: "button" }, title);
      node.addEventListener("click", () => goToItem(nodeOf(item.item), step));
      return node;
    };
    const link = el("a", { href: `#${new URLSearchParams({ ...viewChanges(), item: item.item })}` }, "Link to this item");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      navigator.clipboard?.writeText(link.href).then(() => {
        link.textContent = "Link copied";
      }, () => {
      });
    });
    return el("div", { class: "bar" }, button("Previous item", -1), button("Next item", 1), link);
  }
  function goToItem(node, step) {
    const next = step > 0 ? node.nextElementSibling : node.previousElementSibling;
    if (next?.tagName === "BUTTON" && !next.hidden) next.click();
    const to = next?.tagName === "DETAILS" ? next : byId("item-list").querySelectorAll("details")[shownItems - ITEM_STEP];
    if (!next || next.hidden || !to) return;
    node.open = false;
    to.open = true;
    to.firstChild.focus();
    to.scrollIntoView();
  }
  function listenToItems() {
    byId("item-list").addEventListener("keydown", (event) => {
      const node = event.target.closest("details"), plain = !(event.ctrlKey || event.metaKey || event.altKey);
      if (!node || !plain || event.target.matches("input, select")) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], turn = { n: 1, p: -1 }[event.key];
      const beside = step > 0 ? node.nextElementSibling : node.previousElementSibling;
      if (step && event.target === node.firstChild && beside) {
        event.preventDefault();
        (beside.firstElementChild ?? beside).focus();
      } else if (turn && node.open) goToItem(node, turn);
    });
  }

  // registry/reports/page/scripts/past.js
  var comparison = (significant) => significant == null ? "not compared" : significant ? "yes" : "no";
  function drawPast(board) {
    const past = data.histories[data.boards.indexOf(board)];
    byId("past").hidden = !past;
    if (!past) return;
    const rows2 = range(past.n), system = (n) => cellAt(past.of, n) ?? void 0, seconds = rows2.map((n) => cellAt(past.at, n));
    const dates = formatDates(seconds), first = (n) => n === 0 && !past.left_out;
    const name = (n) => visible(cellAt(past.shown, n)) + (cellAt(past.tied, n) ? ` and ${cellAt(past.tied, n)} more` : "");
    const points = rows2.map((n) => ({
      seconds: seconds[n],
      score: cellAt(past.score, n),
      isFilled: cellAt(past.significant, n) === true,
      text: `${name(n)}, ${cellAt(past.printed, n)}`
    }));
    const label = `Best ${visible(board.metric)} over time, ${counted(past.n, "step")}; the table below has the same`;
    byId("past-note").textContent = `The best score in ${counted(past.states, "comparison")} of this leaderboard` + (past.left_out ? `; the first ${counted(past.left_out, "step")} are left out` : "") + `. ${board.better === "lower" ? "Lower is better. " : ""}Times are UTC.`;
    byId("past-body").replaceChildren(
      past.n > 1 ? el("div", { class: "charted" }, stepChart(points, label, widthOf(byId("past")))) : el("p", {}, `${name(0)} was the best in all of them.`),
      ...past.n > 1 ? [el(
        "ul",
        { class: "legend" },
        el("li", {}, el("i", { class: "dot filled" }), " significantly better than the best before"),
        el("li", {}, el("i", { class: "dot" }), " not, or not compared")
      )] : [],
      scrollable("New bests", tableOf([
        column("since", (n) => el("time", { datetime: new Date(seconds[n] * 1e3).toISOString() }, dates[n])),
        column(
          "best",
          (n) => [systemLink(system(n), cellAt(past.shown, n)), cellAt(past.tied, n) ? ` and ${cellAt(past.tied, n)} more` : ""],
          { isHeader: true }
        ),
        numberColumn(visible(board.metric), (n) => withMinus(cellAt(past.printed, n))),
        numberColumn("change", (n) => n ? signed(cellAt(past.score, n) - cellAt(past.score, n - 1)) : ""),
        column("better than the best before", (n) => first(n) ? "" : comparison(cellAt(past.significant, n))),
        numberColumn(pairHeading("p_adjusted"), (n) => cellAt(past.p, n) == null ? "" : pValue(cellAt(past.p, n))),
        column("", (n) => past.why[n], { isShown: past.why.some((why) => why) })
      ], rows2, { id: "bests" }), past.n > 12)
    );
  }

  // registry/reports/page/scripts/confusions.js
  var SHADES = [0.5, 0.2, 0.05];
  function confusionOf(board, n) {
    const confusions = data.confusions[board.test_set];
    if (!confusions) return null;
    const what = confusions.typed ? "types" : "labels";
    const numbers = confusions.systems[n];
    const text = `The ${what} of the gold of ${visible(board.test_set)}, and the answers of the system` + (confusions.typed ? " at the same place, such as spans of the same tokens." : ".") + (confusions.other ? " All other labels count as one." : "");
    if (!numbers) {
      return el("p", { class: "quiet" }, confusions.left_out ? "This page has the confusions of some systems only, because it would be too large." : "The system confuses no labels.");
    }
    const cells = range(numbers.length / 3).map((k) => numbers.slice(3 * k, 3 * k + 3));
    return [el("p", { class: "quiet" }, text), ...confusions.matrix ? [matrixOf(confusions, cells)] : listOf(confusions, cells)];
  }
  function matrixOf(confusions, cells) {
    const count = (gold, predicted2) => cells.find(([g, p]) => g === gold && p === predicted2)?.[2] ?? 0;
    const places = range(confusions.labels.length), none = [-1];
    const predicted = [...places, ...cells.some(([, p]) => p < 0) ? none : []];
    const golds = [...places, ...cells.some(([g]) => g < 0) ? none : []];
    const inRow = (gold) => predicted.reduce((sum, p) => sum + count(gold, p), 0);
    const inColumn = (p) => golds.reduce((sum, gold) => sum + count(gold, p), 0);
    const share = (n, all) => all ? percent(n / all) : "–";
    const isNamed = (p) => p >= 0 && !(confusions.other && p === places.length - 1);
    const shade = (gold, p) => {
      const level = SHADES.findIndex((least) => count(gold, p) >= least * inRow(gold));
      return gold < 0 || level < 0 || !count(gold, p) ? null : `${gold === p ? "agreed" : "confused"}${3 - level}`;
    };
    const label = (n, without) => n < 0 ? el("i", {}, without) : nameElement(confusions.labels[n]);
    return scrollable("Confusion matrix", el(
      "table",
      { class: "confusion" },
      el("thead", {}, el(
        "tr",
        {},
        el("td", {}, "gold ↓ system →"),
        predicted.map((p) => el("th", { scope: "col" }, label(p, "no response"))),
        el("th", { scope: "col" }, "recall")
      )),
      el("tbody", {}, golds.map((gold) => el(
        "tr",
        {},
        el("th", { scope: "row" }, label(gold, "not in the gold")),
        predicted.map((p) => el("td", { class: shade(gold, p) }, gold < 0 && p < 0 ? "" : count(gold, p).toLocaleString("en"))),
        el("td", { class: "margin" }, isNamed(gold) ? share(count(gold, gold), inRow(gold)) : "")
      ))),
      el("tfoot", {}, el(
        "tr",
        {},
        el("th", { scope: "row" }, "precision"),
        predicted.map((p) => el("td", { class: "margin" }, isNamed(p) ? share(count(p, p), inColumn(p)) : "")),
        el("td")
      ))
    ));
  }
  function listOf(confusions, cells) {
    const label = (n, without) => n < 0 ? el("i", {}, without) : nameElement(confusions.labels[n]);
    return [
      el("p", { class: "quiet" }, `Of ${confusions.labels.length} ${confusions.typed ? "types, the confusions that are most frequent where gold and system both have one" : "labels, the confusions that are most frequent"}.`),
      scrollable("Most frequent confusions", tableOf([
        column("gold", ([gold]) => label(gold, "not in the gold"), { isHeader: true }),
        column(boardHeading("system"), ([, p]) => label(p, "no response")),
        numberColumn("how often", ([, , n]) => n.toLocaleString("en")),
        numberColumn("in the gold", ([gold]) => gold < 0 ? "" : confusions.gold[gold].toLocaleString("en"))
      ], cells), cells.length > 12)
    ];
  }

  // registry/reports/page/scripts/system.js
  var pageTitle = document.title;
  var LONG = 15;
  var KINDS = { primary: "Primary submission", contrastive: "Contrastive submission", baseline: "Baseline" };
  function drawSystem(board, n) {
    const place = placeOn(board, n), name = nameOf(n);
    document.title = `${visible(name)}: ${pageTitle}`;
    byId("system-heading").replaceChildren(nameElement(name));
    byId("system-back").setAttribute("href", hrefWith({ system: "" }));
    const part = (id, title, content) => content == null ? null : el("section", { id, "aria-labelledby": `${id}-heading` }, el("h3", { id: `${id}-heading` }, title), content);
    byId("system-body").replaceChildren(...[
      ...[describeStanding(board, n, place)].flat(),
      declaredFacts(board, place),
      part("system-pairs", "Against the others", place === void 0 || board.n < 2 ? null : opponentsOf(board, n, place)),
      part("system-strengths", "On every leaderboard", strengthsOf(n)),
      part("system-runs", "Runs", runsOf(board, n)),
      part("system-items", "Items on which it differs from the others", distinctiveItemsOf(board, n)),
      part("system-confusions", "Confusions", confusionOf(board, n)),
      part("system-versions", "Versions", versionsOf(board, n))
    ].filter((node) => node != null));
  }
  function describeStanding(board, n, place) {
    const standings = board.standings, team = cellAt(data.details.team, n);
    const whose = team === cellAt(data.details.system, n) ? "" : ` of team ${visible(team)}`;
    if (place === void 0) return el("p", {}, `A system${whose}. It is not on the chosen leaderboard.`);
    const rank = cellAt(standings.rank, place), interval = cellAt(standings.interval, place);
    const ranked = range(board.n).filter((other) => cellAt(standings.rank, other) != null).length;
    return [
      el("p", { class: "quiet" }, visible(board.title)),
      el(
        "p",
        {},
        `${KINDS[cellAt(standings.kind, place)]}${whose}${cellAt(standings.late, place) ? ", came late" : ""}. Score `,
        el("b", {}, withMinus(cellAt(standings.printed, place))),
        interval ? ` (${intervalHeading(board)} ${withMinus(interval)})` : "",
        rank == null ? ", without a rank." : `, rank ${rank} of ${ranked}` + (cellAt(standings.rank_low, place) === cellAt(standings.rank_high, place) ? "." : `; the significant differences do not rule out ranks ${cellAt(standings.rank_low, place)} to ${cellAt(standings.rank_high, place)}.`)
      )
    ];
  }
  function declaredFacts(board, place) {
    const facts = place === void 0 ? {} : factsOf(cellAt(board.standings.submission, place));
    const declared = FACTS.filter(([key]) => facts[key] != null);
    return declared.length ? el("dl", { class: "facts" }, declared.flatMap(([key, title, shown2]) => [el("dt", {}, title), el("dd", {}, el("bdi", {}, shown2(facts[key])))])) : null;
  }
  function opponentsOf(board, n, place) {
    const box = el("div", { "aria-live": "polite" });
    const draw2 = (loaded, against) => box.replaceChildren(...opponentTable(loaded, n, place, against));
    const all = boardPairs(board);
    const drawPagePairs = () => all ? draw2(board, range(board.n).filter((other) => all.find(place, other) !== void 0)) : null;
    if (!board.files) drawPagePairs();
    else {
      loadPairs(board.files, place).then((columns) => {
        if (!columns) return drawPagePairs();
        const loaded = withPairsOf(board, place, columns);
        draw2(loaded.board, loaded.against);
      });
    }
    return box;
  }
  function opponentTable(board, n, place, against) {
    const all = indexPairs(board), rows2 = against.map((other) => ({ other, ...pairFigures(board, all, place, other) }));
    const notes = numberNotes(rows2);
    const groups = [
      ["Better than", rows2.filter(({ other, significant }) => significant && place < other)],
      ["Not significantly different from", rows2.filter(({ significant }) => !significant)],
      ["Worse than", rows2.filter(({ other, significant }) => significant && other < place)]
    ];
    const name = ({ other }) => nameOf(numberOf(board.standings, other));
    const missing = board.n - 1 - rows2.length;
    return [
      el("p", {}, `Significantly better than ${groups[0][1].length}, significantly worse than ${groups[2][1].length}, and not significantly different from ${counted(groups[1][1].length, "system")}${missing ? `; ${counted(missing, "pair is", "pairs are")} not on this page` : ""}. Differences above 0 are in favour of ${visible(nameOf(n))}.`),
      scrollable("Pairs of this system", groupedTable([
        numberColumn(boardHeading("rank"), ({ other }) => cellAt(board.standings.rank, other) ?? "–"),
        column(
          boardHeading("system"),
          ({ other }) => systemLink(numberOf(board.standings, other), cellAt(board.standings.shown, other)),
          { isHeader: true }
        ),
        numberColumn(differenceHeading([board]), ({ difference }) => difference),
        numberColumn(intervalHeading(board), ({ interval }) => interval, { isShown: rows2.some(({ interval }) => interval) }),
        numberColumn(pairHeading("p_value"), ({ p }) => p),
        numberColumn(pairHeading("p_adjusted"), ({ adjusted }) => adjusted, { isShown: board.corrected }),
        column(pairHeading("messages"), notes.numbers, { isShown: notes.list.length > 0 }),
        column("", (row) => el("a", {
          class: "unprinted",
          href: hrefWith({ system: "", a: nameOf(n), b: name(row) }),
          "aria-label": `side by side with ${visible(name(row))}`
        }, "side by side"))
      ], groups.filter(([, group]) => group.length).map(([title, group]) => [`${title} ${group.length}`, group])), rows2.length > LONG),
      notes.list.length ? el("ol", { class: "quiet" }, notes.list.map((note) => el("li", {}, visible(note)))) : null
    ].filter((node) => node != null);
  }
  function strengthsOf(n) {
    const boards = data.boards.filter((board) => placeOn(board, n) !== void 0);
    if (boards.length < 2) return null;
    const rows2 = boards.map((board) => {
      const worse = board.better === "higher" ? (a, b) => a - b : (a, b) => b - a, score = cellAt(board.standings.score, placeOn(board, n));
      const scores = range(board.n).map((place) => cellAt(board.standings.score, place)).filter((other) => other != null).sort(worse);
      const quartile = (k) => {
        const place = k * (scores.length - 1) / 4;
        return (scores[Math.floor(place)] + scores[Math.ceil(place)]) / 2;
      };
      const near = Math.abs(quartile(3) - quartile(1)) * 1.5;
      const low = [score, ...scores.filter((other) => worse(other, quartile(1)) >= -near)].sort(worse)[0];
      return {
        board,
        place: placeOn(board, n),
        score,
        low,
        median: scores.length ? quartile(2) : null,
        best: scores[scores.length - 1],
        behind: scores.filter((other) => worse(other, score) < 0).length
      };
    });
    const cell = (key, board) => board[key] == null ? WHOLE[key] : visible(board[key]);
    const places = chosenDimensions.filter(([, key]) => key !== "metric").map(([, key, title]) => column(title.toLowerCase(), ({ board }) => cell(key, board)));
    return scrollable("Scores on every leaderboard", tableOf([
      ...places,
      column(
        boardHeading("metric"),
        ({ board }) => el("a", { href: hrefWith({ system: "", ...viewOf(board) }) }, visible(board.metric)),
        { isHeader: true }
      ),
      numberColumn(boardHeading("score"), ({ board, place }) => el("b", {}, withMinus(cellAt(board.standings.printed, place)))),
      numberColumn(boardHeading("rank"), ({ board, place }) => cellAt(board.standings.rank, place) ?? "–"),
      numberColumn("ahead of", ({ board, behind, score }) => score == null ? "–" : `${behind} of ${board.n - 1}`),
      numberColumn("median", ({ board, median }) => fixed(median, board.decimals)),
      numberColumn("best", ({ board, best }) => fixed(best, board.decimals)),
      column("low, median, best", drawStrip)
    ], rows2, { id: "strengths" }), rows2.length > LONG);
  }
  function drawStrip({ score, low, best, median }) {
    if (score == null) return "";
    const width = 168, x = (value) => 5 + (width - 10) * (best === low ? 0.5 : (value - low) / (best - low));
    return svg(
      "svg",
      { class: "interval", width, height: 16, viewBox: `0 0 ${width} 16`, "aria-hidden": "true" },
      svg("line", { class: "rail", x1: 5, x2: width - 5, y1: 8, y2: 8 }),
      svg("line", { class: "median", x1: x(median), x2: x(median), y1: 2, y2: 14 }),
      svg("circle", { cx: x(score), cy: 8, r: 3.5 })
    );
  }
  function runsOf(board, n) {
    const { runs } = data.details;
    const rows2 = range(runs.n).filter((k) => cellAt(runs.of, k) === n && cellAt(runs.test_set, k) === board.test_set);
    if (!rows2.length) return null;
    const names = runs.names[rows2[0]], mean = (k) => runs.scores[k].reduce((sum, score) => sum + score, 0) / runs.scores[k].length;
    const deviation = (k) => Math.sqrt(runs.scores[k].reduce((sum, score) => sum + (score - mean(k)) ** 2, 0) / (runs.scores[k].length - 1));
    const shown2 = (k, score) => fixed(score, data.boards.find((other) => other.metric === cellAt(runs.metric, k))?.decimals);
    const known = (k) => runs.scores[k].every((score) => score != null);
    const lines = [
      ...names.map((name, run) => [nameElement(name), (k) => shown2(k, runs.scores[k][run])]),
      ["mean", (k) => known(k) ? shown2(k, mean(k)) : "–"],
      [boardHeading("run_sd"), (k) => known(k) ? shown2(k, deviation(k)) : "–"]
    ];
    return [
      el("p", { class: "quiet" }, `${counted(names.length, "run")} on all items of ${visible(board.test_set)}.`),
      scrollable("Scores of its runs", tableOf([
        column("run", ([name]) => name, { isHeader: true }),
        ...rows2.map((k) => numberColumn(visible(cellAt(runs.metric, k)), ([, cell]) => cell(k)))
      ], lines, { id: "runs" }), lines.length > LONG)
    ];
  }
  function distinctiveItemsOf(board, n) {
    const distinctive = data.details.distinctive;
    const k = range(distinctive.n).find((row) => cellAt(distinctive.of, row) === n && cellAt(distinctive.test_set, row) === board.test_set && (cellAt(distinctive.track, row) ?? "") === (board.track ?? ""));
    if (k === void 0) return null;
    const isBinary = cellAt(distinctive.right_or_wrong, k), metric = visible(data.boards[0].metric);
    const shownHere = new Set((data.items[board.test_set]?.items ?? []).map(({ item }) => item));
    const link = (item) => shownHere.has(item) ? el("a", { href: hrefWith({ system: "", facet: "", item, a: nameOf(n), b: "" }) }, nameElement(item)) : nameElement(item);
    const table = (title, above, words2) => {
      const rows2 = distinctive.differences[k].filter((row) => Boolean(row[3]) === above);
      return rows2.length ? [el("h4", {}, title), scrollable(title, tableOf([
        column("item", ([item]) => link(distinctive.items[item]), { isHeader: true }),
        numberColumn(metric, ([, score]) => fixed(score)),
        numberColumn("the others' mean", ([, , others]) => fixed(others)),
        column("", ([, , , , alone]) => alone ? words2 : "", { isShown: rows2.some((row) => row[4]) })
      ], rows2))] : [];
    };
    const words = isBinary ? ["alone is correct", "alone is incorrect"] : ["is better than all others", "is worse than all others"];
    return [
      el("p", {}, `It ${words[0]} on ${counted(cellAt(distinctive.best_alone, k), "item")}, and ${words[1]} on ${cellAt(distinctive.worst_alone, k)}, of ${visible(board.test_set)}. Listed are those on which its score is furthest from the mean of the others.`),
      el("div", { class: "halves" }, el("div", {}, table("Above the others", true, words[0])), el("div", {}, table("Below the others", false, words[1])))
    ];
  }
  function versionsOf(board, n) {
    const versions = data.details.versions;
    const rows2 = range(versions.n).filter((k) => cellAt(versions.of, k) === n && cellAt(versions.test_set, k) === board.test_set);
    if (!rows2.length) return null;
    const dates = formatDates(rows2.map((k) => cellAt(versions.at, k)));
    const scored = rows2.filter((k) => cellAt(versions.score, k) != null);
    const points = scored.map((k) => ({ seconds: cellAt(versions.at, k), score: cellAt(versions.score, k), isFilled: true, text: `version ${visible(cellAt(versions.version, k))}, ${fixed(cellAt(versions.score, k), data.boards[0].decimals)}` }));
    const label = "Scores of its versions over time; the table below has the same";
    return [
      points.length > 1 ? el("div", { class: "charted" }, stepChart(points, label, widthOf(byId("system")))) : null,
      scrollable(
        "Versions, the last one first",
        tableOf([
          column("version", (k) => nameElement(cellAt(versions.version, k)), { isHeader: true }),
          column("submitted (UTC)", (k) => dates[rows2.indexOf(k)]),
          numberColumn(`${visible(data.boards[0].metric)} by the current gold`, (k) => fixed(cellAt(versions.score, k), data.boards[0].decimals)),
          column("", (k) => cellAt(versions.late, k) ? "came late" : "", { isShown: rows2.some((k) => cellAt(versions.late, k)) })
        ], [...rows2].reverse(), { id: "versions" }),
        rows2.length > LONG
      ),
      scored.length < rows2.length ? el("p", { class: "quiet" }, "n/a: not scored by the current gold, or not public while it was the newest version.") : null
    ];
  }

  // registry/reports/page/scripts/page.js
  var isFollowingLink = false;
  var isChoosingBoard = false;
  function draw(last) {
    hideTip();
    byId("main").setAttribute("aria-busy", "true");
    const board = findBoard(last), system = systemNumbers.get(view.system);
    byId("main").classList.toggle("of-system", system !== void 0);
    byId("system").hidden = system === void 0;
    if (system === void 0) document.title = pageTitle;
    const wide = view.show === "wide" ? wideOf(board.track) : void 0;
    setDecimals(board.decimals);
    const listing = wide ? wideListing(wide) : boardListing(board);
    setShown(board, listing);
    setView({
      show: wide ? "wide" : "",
      ...Object.fromEntries(chosenDimensions.map(([key, field]) => [key, board === data.boards[0] ? "" : board[field] ?? ""]))
    });
    drawControls(board, wide, draw);
    byId("contents").hidden = byId("result").hidden = system !== void 0;
    if (system !== void 0) {
      drawSystem(board, system);
      revealTarget();
      return;
    }
    drawResult(wide?.result ? { result: wide.result, warnings: [] } : wide ? firstBoardOf(wide) : board);
    markBoard(wide ? void 0 : board);
    drawColumnChoice(listing, () => draw());
    drawTable(listing);
    drawDownloads(() => wide ? wideSheet(wide) : boardSheet(board), wide ?? board);
    byId("of-one").hidden = Boolean(wide);
    byId("methods").textContent = visible(board.methods);
    byId("signature").replaceChildren(...breakable(board.signature));
    afterPaint(() => {
      if (shown.listing !== listing) return;
      if (listing.n > FIRST_ROWS) arrangeRows(listing);
      if (!wide) drawCharts(board);
      drawVersus(board);
      drawItems(board);
      drawPast(board);
      drawSystems(board);
      drawContents();
      revealTarget();
    });
  }
  function drawResult(board) {
    const n = board.warnings.filter(({ severity }) => severity !== "info").length;
    byId("result").replaceChildren(
      el("bdi", {}, visible(board.result).replaceAll(" = ", " = ")),
      ...n ? [" ", el("a", { class: "unprinted", href: "#sentences" }, counted(n, "warning"))] : []
    );
  }
  function revealTarget() {
    byId("main").setAttribute("aria-busy", "false");
    if (!isFollowingLink) return;
    const item = view.item && byId("item-list").querySelector("details[open] summary");
    const to = systemNumbers.has(view.system) ? byId("system-heading") : isChoosingBoard ? byId("leaderboard") : item || (view.a && view.b ? byId("versus-heading") : null);
    isFollowingLink = isChoosingBoard = false;
    if (systemNumbers.has(view.system)) scrollTo(0, 0);
    else to?.scrollIntoView();
    to?.focus({ preventScroll: true });
  }
  readView();
  byId("filter").value = view.filter;
  byId("filter").addEventListener("input", (event) => {
    setView({ filter: event.target.value });
    if (shown.listing) filterRows(shown.listing);
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  for (
    const input of
    /** @type {NodeListOf<HTMLInputElement>} */
    document.getElementsByName("p")
  ) {
    input.addEventListener("change", () => {
      setView({ p: input.value });
      if (shown.board) drawCharts(shown.board);
    });
  }
  listenToItems();
  listenToMatrix();
  listenToAbout();
  listenToContents(() => {
    isChoosingBoard = true;
  });
  byId("options").open = Boolean(view.filter || view.hide) || data.boards.length > 1 && innerWidth >= 640;
  addEventListener("hashchange", () => {
    readView();
    byId("filter").value = view.filter;
    setShown();
    isFollowingLink = true;
    draw();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
  });
  addEventListener("resize", fitTable);
  addEventListener("resize", redrawCharts);
  document.documentElement.classList.add("draws");
  draw();
})();
