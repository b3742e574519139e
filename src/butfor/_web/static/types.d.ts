// Types for `tsc`, known to all modules without import; browsers never see this file.
// What ends in "Answer" is what the server sends: the same fields are in butfor/_web/answers.py.

type Span = [start: number, stop: number];
type RowStatus = "found" | "none" | "budget" | "error" | "pending";
/** What one and several units of a row are called. */
type Noun = [one: string, several: string];

/** A column of a table, and a stretch of characters in its cell. */
type Mark = [column: number, start: number, stop: number];
/** The name of a column, and its cell as it is shown. */
type Cell = [name: string, shown: string];
/** A column of records: what it holds, and the categories that the model knows. */
interface RecordColumn {
  name: string;
  kind: "text" | "items" | "category" | "code" | "number";
  choices: (string | number)[];
}
/** A record of one's own: its values by column, or its items. */
type OwnRecord = Record<string, string | number | string[] | null> | string[];

/** What the page is about, as butfor/_web/pages.py writes it into the page. */
interface Workspace {
  name: string;
  title: string;
  kind: "texts" | "items" | "records";
  can_explain: boolean;
  n_rows: number;
  classes: string[];
  threshold: number | null;
  n_classes: number;
  searches: { name: string; about: string }[];
  unit: Noun;
  /** The columns of records. */
  columns: RecordColumn[];
  /** In which form the model takes records: of "lists", a record is its items. */
  record_form: "frame" | "dicts" | "lists" | "array" | null;
  limits: { text: number; items: number; max_seconds: number; max_size: number };
  workspaces: { name: string; title: string; href: string }[];
  version: string;
  /** The modules that each view needs. */
  modules: Record<string, string[]>;
}

interface ExplanationAnswer {
  status: "found" | "none" | "budget";
  features: string[];
  places: number[];
  items: string[];
  spans: Span[][];
  score: number;
  score_without: number;
  threshold: number;
  lower_bound: number | null;
  reason: string;
  costs: boolean;
  decision: string;
  n_classes: number;
  survives_deletion: boolean | null;
  size: number;
  proven: boolean;
  sentence: string;
  proof: string;
  facts: string;
  letter: string | null;
  page: string | null;
}

/** An explanation, and whose it is: "The answer of the search", "An alternative". */
type Explained = ExplanationAnswer & { origin?: string };

interface UnitAnswer {
  name: string;
  spans: Span[];
  marks: Mark[];
  removable: boolean;
}

interface ScoreAnswer {
  score: number;
  score_without: number;
  threshold: number;
  decision: string;
  decision_without: string;
  flipped: boolean;
  n_classes: number;
  explanation: ExplanationAnswer | null;
  units: UnitAnswer[] | null;
  text: string | null;
  table: Cell[] | null;
}

interface AlternativesAnswer {
  explanations: ExplanationAnswer[];
  complete_up_to: number;
  reason: string;
}

interface SearchAnswer {
  search: string;
  status: "found" | "none" | "budget" | "error";
  size: number;
  features: string[];
  places: number[];
  score_without: number | null;
  lower_bound: number | null;
  proven: boolean;
  n_scored: number;
  seconds: number;
  reason: string;
  error: string | null;
}

interface RowAnswer {
  number: number;
  id: number | string;
  preview: string;
  score: number | null;
  decision: string | null;
  status: RowStatus;
  size: number | null;
  lower_bound: number | null;
  proven: boolean | null;
  contradicted: boolean | null;
}

interface Progress {
  total: number;
  scored: number;
  explained: number;
}

interface RowsAnswer {
  total: number;
  matching: number;
  page: number;
  per_page: number;
  rows: RowAnswer[];
  progress: Progress;
}

interface SummaryAnswer {
  total: number;
  progress: Progress;
  statuses: Record<string, number>;
  sizes: Record<string, number>;
  n_found: number;
  n_proven: number;
  features: { name: string; count: number }[];
}

interface OneRowAnswer {
  number: number;
  id: number | string;
  text: string | null;
  record: OwnRecord | null;
  explanation: ExplanationAnswer | null;
  error: string | null;
  decision: string | null;
}

interface FeatureAnswer {
  name: string;
  column: number;
}

/** What is asked about: exactly one of these. */
type Subject = { row: number } | { text: string } | { items: Item[] } | { record: OwnRecord };
/** A feature by its name, or by its column where features have no names. */
type Item = string | number;
type Question = Subject & { protected: Item[] };

/** What a reader did to a row; places are numbers of units. */
interface State {
  removed: Set<number>;
  protected: string[];
  search: string;
}

/** Places of units: what is taken away, what is evidence, what may not be used. */
interface Marks {
  removed: Set<number>;
  evidence: Set<number>;
  locked: Set<number>;
}

/** What the buttons and units of a row do. */
interface Buttons {
  toggle(place: number): void;
  smallest(): void;
  another(): void;
  undo(): void;
  redo(): void;
  reset(): void;
  protect(name: string): void;
  release(name: string): void;
}

type Params = Record<string, string | number | boolean | null | undefined>;
/** How an address is reached: a new step in the browser's history, or in the place of the present one. */
type How = { replace?: boolean };
type Context = {
  path: string[];
  params: URLSearchParams;
  go(view: string, params?: Params, how?: How): void;
  note(view: string, params?: Params | URLSearchParams): void;
};

/** What a module of a view exports. */
interface View {
  render(main: HTMLElement, context: Context): Promise<unknown>;
  update?(context: Context): Promise<unknown>;
  leave?(): void;
}

type Child = Node | string | number | false | null | undefined | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => unknown)>;
