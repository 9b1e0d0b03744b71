// What the page embeds (registry/reports/page), and what its modules pass to each other.

/** A list with a value for each row, or the one value of all rows. */
export type Column<T> = T | T[];
export type Cell = Node | string | null | undefined | false | Cell[];

export interface PageData {
  task: { id: string; title: string; version: string; cost_unit: string | null };
  keys: string[];
  /** Headings and alignment of columns, by their JSON names: registry/reports/columns.py. */
  columns: { board: Record<string, Heading>; pairs: Record<string, Heading> };
  boards: Board[];
  systems: { of: Record<string, Record<string, any>>; left_out: number };
  details: Record<string, any>;
  confusions: Record<string, any>;
  histories: Record<string, any>;
  items: Record<string, any>;
  wide: Wide[];
}

export interface Heading {
  heading: string;
  /** The tooltip; can be empty. */
  about: string;
  right: boolean;
}

export interface Board {
  task: string;
  test_set: string;
  track: string | null;
  facet: string | null;
  metric: string;
  metric_name: string;
  signature: string;
  title: string;
  /** The sentence with the result. */
  result: string;
  metric_label: string;
  decimals: number;
  better: "higher" | "lower";
  alpha: number;
  confidence: number;
  corrected: boolean;
  unit: string;
  n: number;
  n_items: number;
  /** The columns of the table, by their JSON names, in their order. */
  columns: string[];
  /** Headings that are other ones on this leaderboard. */
  headings: Record<string, string>;
  standings: Record<string, Column<any>>;
  numbers: Record<string, (number | null)[]>;
  undecided: Column<number>;
  n_pairs: number;
  pairs: Pairs | null;
  warnings: { code: string; severity: string; text: string }[];
  sentences: string[];
  methods: string;
  references: { key: string; text: string; link: string; bibtex: string }[];
  latex: string | null;
  files: { folder: string; key: string } | null;
}

export interface Pairs {
  reach: number | null;
  a?: number[];
  b?: number[];
  significant: string;
  [column: string]: any;
}

export interface PairIndex {
  a: number[];
  b: number[];
  count: number;
  /** The number of the pair of two systems, in either order. */
  find(i: number, j: number): number | undefined;
  p(k: number): number | null;
  difference(k: number): number | null;
  significant(k: number): boolean;
  sameTeam(k: number): boolean;
}

export interface PairFigures {
  difference: string;
  interval: string;
  p: string;
  adjusted: string;
  significant: boolean;
  notes: string[];
}

export interface Wide {
  track: string | null;
  title: string;
  result: string | null;
  n: number;
  notes: string[];
  parts: string[];
  rows: Record<string, Column<any>>;
  latex: string | null;
  columns: WideColumn[];
}

export interface WideColumn {
  name: string;
  title: string;
  better: string;
  /** How the pairs of the column are tested. */
  basis: string;
  at: Column<number | null>;
  board?: number;
  figures?: Record<string, Column<any>>;
}

/** A table of systems that can be sorted and filtered. */
export interface Listing {
  title: string;
  n: number;
  columns: ListingColumn[];
  /** The columns, with those that the reader hides. */
  allColumns: ListingColumn[];
  /** The column that orders the rows by default. */
  first: ListingColumn;
  /** The cluster of a row, if rules separate clusters. */
  cluster?: (n: number) => number | null;
  kind: (n: number) => string;
  /** The texts that find a row. */
  texts: (n: number) => string[];
  /** Sentences below the table. */
  sentences: Cell[];
}

export interface ListingColumn {
  /** The JSON name, which the view sorts by. */
  name: string;
  heading: string;
  /** The tooltip of the heading. */
  about?: string;
  right?: boolean;
  /** The cells name their rows. */
  isHeader?: boolean;
  wraps?: boolean;
  /** High values come first. */
  descending?: boolean;
  cell: (n: number) => Cell;
  /** What rows are sorted by; undefined for a drawing. */
  value?: (n: number) => any;
  scale?: Scale;
}

/** A column of a plain table: `row` is whatever the table's rows are. */
export interface TableColumn {
  heading: Cell;
  cell: (row: any) => Cell;
  right?: boolean;
  isHeader?: boolean;
  /** False leaves the column out. */
  isShown?: boolean;
  class?: string;
  title?: string | null;
}

export interface Scale {
  low: number;
  high: number;
  width: number;
  digits: number;
  x: (value: number) => number;
  /** The sentence about values beyond the scale; null if there are none. */
  rule: string | null;
}

/** A value with its interval; an infinite or undefined end is null. */
export interface Interval {
  value: number | null;
  low?: number | null;
  high?: number | null;
}

export interface Point {
  x: number;
  y: number;
  lines: () => string[];
}
