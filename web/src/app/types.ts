// Types of /api/v1, as in the server's OpenAPI description. Times are milliseconds since 1970 (UTC); fields ending in `_us` are in
// microseconds.
// Phases, stages, matches and games count from 1. The name of a match is `STAGE-NUMBER`, for example `2-15`.

/** Body of every error response: a stable code and a message. */
export interface ApiError {
  error: {
    code: string;
    message: string;
    hint?: string;
    field?: string;
    details?: string[];
    /** Errors in a competition file. Line and column count from 1. */
    mistakes?: { line: number | null; column: number | null; what: string; hint: string }[];
  };
}

/** A page of a list. `next` is the value for `?after=`; null at the end. */
export interface ListPage<T> {
  items: T[];
  next: string | null;
}

export type Role = 'organiser' | 'author' | 'spectator';

export interface CurrentUser {
  id: number;
  name: string;
  role: Role;
}

/** GET /site */
export interface Site {
  name: string;
  version: string;
  signup: 'open' | 'invite' | 'closed';
  /** Whether all content requires sign-in. */
  private: boolean;
  me: CurrentUser | null;
  /** CSRF token, sent as X-CSRF-Token with every change. */
  csrf: string | null;
}

/** GET /games (without requirements, rules, api, languages), GET /games/{game} */
export interface Game {
  id: string;
  title: string;
  about: string;
  seats: { min: number; max: number };
  roles: string[];
  clock: string;
  faults: string;
  score: { name: string; better: 'higher' | 'lower' };
  settings: { name: string; about: string; default: string; file: boolean }[];
  house_bots: { name: string; about: string; roles: string[] }[];
  /** What a Python bot is; null if the game has no Python API. */
  python_api: 'function' | 'class' | 'class-per-role' | null;
  /** Requirements for a submission: lines of Markdown. */
  requirements?: string[];
  /** Markdown. */
  rules?: string;
  /** Description of the bot API in Markdown. */
  api?: string;
  /** Starters: GET /games/{game}/starter/{language} is a zip. */
  languages?: string[];
}

export type CompetitionState = 'draft' | 'open' | 'closed' | 'running' | 'paused' | 'waiting' | 'over' | 'failed';

/** GET /competitions */
export interface CompetitionItem {
  id: string;
  name: string;
  game: string;
  game_title: string;
  state: CompetitionState;
  /** Error message, if the competition failed. */
  message: string | null;
  created: number;
  bots: number;
  phase: { number: number; name: string; of: number } | null;
  matches: number;
  expected: number | null;
  /** The first three of the phase, or of each role, one role after the other. `rank` is the rank within the role. */
  leaders: { bot: number; name: string; rank: number; entrant: number; role: string | null }[];
  /** Whether bots can be submitted now, if the deadline is not past. */
  accepts: boolean;
  deadline: Deadline | null;
}

/** Until when bots can be submitted. */
export interface Deadline {
  /** The last moment, in milliseconds since the epoch. */
  at: number;
  /** As the competition file has it, with its time zone. */
  text: string;
  past: boolean;
}

export interface PhaseItem {
  number: number;
  name: string;
  format: string;
  state: 'waiting' | 'running' | 'published' | 'closed';
  started: number | null;
  published: number | null;
  /** Whether new versions can be submitted before the phase. */
  resubmit: boolean;
  matches: number;
  games: number;
  faults: number;
  /** Minimum and maximum number of matches, if known. */
  expected: [number, number] | null;
  /** SHA-256 of the published table. */
  table: string | null;
  bracket: boolean;
  /** Whether seeds are hidden until the competition ends: no replays and no live games before. */
  hidden: boolean;
}

export interface Entrant {
  /** Id of the bot's page. */
  bot: number;
  /** Number of the entrant in tables; null before the start. */
  entrant: number | null;
  name: string;
  contributor: string | null;
  role: string | null;
  house: boolean;
  mine: boolean;
  version: number | null;
  marks: { mark: string; note: string | null }[];
  withdrawn: boolean;
  disqualified: string | null;
}

export interface Ruling {
  id: number;
  kind: 'void' | 'disqualify';
  phase: number | null;
  match: string | null;
  bot: number | null;
  name: string | null;
  reason: string;
  by: string;
  at: number;
  lifted: { at: number; by: string; reason: string } | null;
}

/** GET /competitions/{id} */
export interface Competition extends CompetitionItem {
  about: string;
  phases: PhaseItem[];
  entrants: Entrant[];
  /** SHA-256 of the secret seed, after the start. */
  commitment: string | null;
  seed: string | null;
  rulings: Ruling[];
  limits: { per_contributor: number; max_bytes: number };
  /** Number of bots the user can still submit; null without the permission. */
  left: number | null;
  downloads: { name: string; about: string; path: string }[];
  /** Competition file; only for organisers. */
  file: string | null;
}

/** Scale of an axis. The server computes it; the web app draws it. */
export interface AxisScale {
  kind: 'linear' | 'logarithmic';
  /** Values at the start and at the end of the axis. */
  min: number;
  max: number;
  marks: AxisMark[];
}

export interface AxisMark {
  value: number;
  /** In per cent of the axis. */
  position: number;
  label: string;
}

/** Scale of score distributions. */
export interface HistogramScale {
  /** Bins that are drawn, from left to right. */
  bins: number[];
  /** Score or range of scores of each drawn bin. */
  bin_labels: string[];
  marks: AxisMark[];
  max_count: number;
}

/** A cell of a standings table, as in `agon table --format json`, by column id. */
export type TableCell = null | string | number | { low: number; high: number };

export interface TableColumn {
  id: string;
  title: string;
  right: boolean;
  time: boolean;
  /** `text`, `number`, `interval`, `time` (microseconds). */
  kind: string;
  decimals: number;
  unit: string;
}

export interface StandingsTable {
  id: string;
  title: string;
  official: boolean;
  columns: TableColumn[];
  /** There are no medals until the table is published. */
  rows: ({ entrant: number; medal: 'gold' | 'silver' | 'bronze' | null } & { [column: string]: TableCell })[];
  notes: string[];
  /** Scale of the drawn intervals, or of the shades of measured head-to-head cells. */
  scale: AxisScale | null;
}

/** GET /competitions/{id}/phases/{phase}/table */
export interface PhaseStandings {
  competition: string;
  phase: string;
  game: string;
  matches: number;
  games: number;
  entrants: Entrant[];
  sheets: StandingsTable[];
  head_to_head: {
    one: number;
    other: number;
    games: number;
    won: number;
    drawn: number;
    lost: number;
    points: [number, number] | null;
    scores: [number, number];
  }[];
  histogram: {
    score: string;
    unit: string;
    from: number;
    width: number;
    entrants: { entrant: number; counts: number[] }[];
    scale: HistogramScale;
  } | null;
  ratings: { entrant: number; rating: number; error: number }[];
  /** Scales of the charts; null where there is nothing to draw. `answer_times` is in microseconds. */
  scales: { ratings: AxisScale | null; efficiency: AxisScale | null; answer_times: AxisScale | null };
  /** Entrants whose order relative to a neighbour is not significant. */
  open: number[];
  /** Entrants of a running phase that have not played yet. They are the last rows of the tables, without figures. */
  without_games: number[];
  rulings: Ruling[];
  /** Increases with every change; used in ETags and `table` events. */
  revision: number;
}

/** GET /competitions/{id}/phases/{phase}/ratings */
export interface RatingHistory {
  points: { matches: number; ratings: { entrant: number; rating: number }[] }[];
  rating_scale: AxisScale | null;
  match_scale: AxisScale;
}

/** GET /competitions/{id}/phases/{phase}/schedule?after=&limit= */
export interface Schedule {
  stages: { stage: number; name: string; matches: number; done: number }[];
  fixtures: ListPage<Fixture>;
  /** `meetings` is null if there are too many entrants, `seats` if roles have fixed seats. */
  balance: { meetings: [number, number] | null; seats: [number, number] | null; matches: [number, number] } | null;
}

export interface Fixture {
  match: string;
  stage: string;
  entrants: number[];
  state: 'played' | 'playing' | 'to come' | 'void';
}

/** GET /competitions/{id}/phases/{phase}/bracket */
export interface Bracket {
  rounds: {
    name: string;
    matches: {
      match: string | null;
      sides: { entrant: number | null; seed: number | null; score: string; won: boolean }[];
      note: string;
    }[];
  }[];
  /** Rounds after the last one of `rounds`. Their entrants are not known yet. */
  planned: { name: string; ties: number }[];
  placing: { place: number; entrants: number[] }[];
}

/** GET /competitions/{id}/phases/{phase}/matches?entrant=&faulty=&after=&limit= (newest first), .../matches/{match} */
export interface Match {
  phase: number;
  match: string;
  finished: number;
  void: string | null;
  faults: number;
  entrants: number[];
  points: number[];
  games: MatchGame[];
  /** Previous and next match of the phase; only in the response for a single match. */
  before?: string | null;
  after?: string | null;
}

export interface MatchGame {
  game: number;
  turns: number;
  ended: string;
  seats: { entrant: number; role: string; score: number; beside: { name: string; value: number } | null; place: number; faults: number; thought_us: number }[];
  /** Address of the film; null while seeds are hidden. */
  film: string | null;
}

// GET .../matches/{match}/games/{game}/film is a film (docs/film.md), with the output of the user's own bots.
// GET .../matches/{match}/games/{game}/record is the record, after the seed is revealed.

/** GET /competitions/{id}/boards */
export interface LiveGame {
  board: number;
  phase: number;
  match: string;
  game: number;
  seats: { entrant: number; role: string }[];
  since: number;
  turn: number;
  hidden: boolean;
}

// GET /competitions/{id}/events (server-sent): `progress` (Progress), `table` ({phase, revision}), `state` ({state, message}), `ping`.
export interface Progress {
  phase: number;
  stage: string;
  matches: number;
  expected: number | null;
  games_per_second: number;
  playing: LiveGame[];
}
// GET /competitions/{id}/boards/{board}/watch (server-sent): `head` (a live film with `at`: {phase, match, game}), `part` ({from, turns...}: docs/film.md),
// `end` ({phase, match, game, film}).

/** GET /competitions/{id}/bots/{bot} */
export interface BotPage extends Entrant {
  competition: string;
  game: string;
  versions: {
    version: number;
    /** SHA-256 of the bot's files, as in the report of its check; null if it is not known. */
    hash: string | null;
    at: number;
    from_phase: number;
    /** Only for the author. */
    submission: string | null;
    commit: string | null;
  }[];
  phases: {
    number: number;
    name: string;
    rank: number | null;
    of: number;
    games: number;
    faults: { timeout: number; crash: number; illegal: number; garbled: number };
    time: { answers: number; mean_us: number; longest_us: number };
    rating: { rating: number; error: number } | null;
    opponents: {
      bot: number;
      name: string;
      games: number;
      won: number;
      drawn: number;
      lost: number;
      scores: [number, number];
    }[];
  }[];
}

/** GET /competitions/{id}/bots/{bot}/faults?after=&limit= (newest first) */
export interface FaultItem {
  id: number;
  phase: number;
  match: string;
  game: number;
  turn: number;
  fault: string;
  /** Message of the bot; null while seeds are hidden, except for its author. */
  says: string | null;
  /** Only for the author. */
  stderr: string | null;
  at: number;
  film: string | null;
  /** Address of the repro bundle; null for other users. */
  capsule: string | null;
}

/** GET /competitions/{id}/bots/{bot}/logs/{phase}/{match}/{game}; only for the author */
export interface BotLog {
  phase: number;
  match: string;
  game: number;
  turns: { turn: number; text: string }[];
  cut: boolean;
}

// DELETE /competitions/{id}/bots/{bot}: the author withdraws the bot before the start.

/**
 * POST /competitions/{id}/bots, POST /competitions/{id}/bots/{bot}/versions (multipart: `name`, `role`, `class`, `mark`..., `file`...),
 * GET /submissions/{id}.
 * `file` is repeated for each file. The file name is the path in the bot's folder, with slashes. A zip is a single `file`.
 */
export interface Submission {
  id: string;
  competition: string;
  bot: number;
  name: string;
  by: string;
  file: string;
  bytes: number;
  state: 'queued' | 'checking' | 'accepted' | 'refused' | 'broke';
  /** Number of submissions ahead in the queue. */
  waiting: number;
  version: number | null;
  created: number;
  finished: number | null;
  report: CheckReport | null;
  /** Number of trial games. GET /submissions/{id}/trials/{n}, from 1, is the film. */
  trials: number;
}

export interface CheckReport {
  accepted: boolean;
  name: string | null;
  hash: string | null;
  steps: { name: string; outcome: 'yes' | 'no' | 'skipped'; says: string; bad: CheckFinding[]; advice: CheckFinding[] }[];
}

export interface CheckFinding {
  file: string | null;
  line: number | null;
  what: string;
  hint: string;
  trace: string;
}

/** GET /me/bots */
export interface MyBot extends Entrant {
  /** Whether it takes no part because its first version was rejected. Its author did not withdraw it. */
  rejected: boolean;
  competition: string;
  competition_name: string;
  game: string;
  state: CompetitionState;
  accepts: boolean;
  latest: Submission | null;
}

/** GET /me/tokens; POST /me/tokens {label} returns `token` once; DELETE /me/tokens/{id} */
export interface Token {
  id: number;
  label: string;
  created: number;
  used: number | null;
  token?: string;
}

// POST /accounts {name, password, invitation?} signs up and in; POST /session {name, password} signs in; DELETE /session signs out;
// PUT /me/password {old, new}. All return Site.

/** Organisers: GET /accounts; PATCH /accounts/{id} {role?, disabled?} */
export interface Account {
  id: number;
  name: string;
  role: Role;
  created: number;
  disabled: boolean;
  bots: number;
}

/**
 * Organisers: GET /invitations; POST /invitations {role, note, uses, days} returns `code` once; DELETE /invitations/{id}.
 * GET /invitations/{code} needs no account.
 */
export interface Invitation {
  id: number;
  role: Role;
  note: string;
  created: number;
  expires: number;
  uses: number;
  left: number;
  revoked: boolean;
  code?: string;
}

/** Organisers: GET /presets */
export interface Preset {
  game: string;
  title: string;
  file: string;
}

// Organisers: POST /competitions {game, name, id?, file?, house?: string[], per_contributor?, max_bytes?};
// PUT /competitions/{id}/file {file}; DELETE /competitions/{id} (a draft); POST /competitions/{id}/actions {action: open|close|start|pause|resume|next};
// POST /competitions/{id}/rulings {kind, phase?, match?, bot?, reason}; POST /competitions/{id}/rulings/{ruling}/lift {reason}.

/** Organisers: GET /audit?competition=&after=&limit= */
export interface AuditItem {
  id: number;
  at: number;
  by: string | null;
  action: string;
  competition: string | null;
  subject: string;
  reason: string;
}

/** Organisers: GET /machine */
export interface SystemInfo {
  version: string;
  uptime_ms: number;
  cores: number;
  load: [number, number, number];
  memory: { total: number; available: number; own: number };
  disk: { total: number; free: number };
  sandbox: { layer: string; active: boolean; about: string }[];
  queue: { submissions: number; checking: number };
  watchers: number;
  running: { competition: string; name: string; games: number; games_per_second: number; jobs: number }[];
}

/** Organisers: GET /workers; POST /workers/{name}/drain */
export interface WorkerList {
  /** NATS server of the workers; null if games are played on the server's machine. */
  server: string | null;
  version: string;
  workers: Worker[];
  jobs: { waiting: number; out: number } | null;
  barred: BannedWorker[];
}

export interface Worker {
  name: string;
  session: string;
  state: 'playing' | 'idle' | 'draining' | 'failing' | 'refused' | 'lost';
  version: string;
  cores: number;
  busy: number;
  games: number;
  games_per_second: number;
  used: number;
  speed: number;
  faults: number;
  failed: number;
  since: number;
  seen_ms: number;
  layers: string[];
  refused: { competition: string; why: string }[];
  /** Set if its last jobs all failed. */
  failing?: { failures: number; why: string; retry_ms: number } | null;
}

export interface BannedWorker {
  name: string;
  competition: string;
  why: string;
  at: number;
}

/** Organisers: GET /competitions/{id}/workers */
export interface CompetitionWorkers {
  grid: boolean;
  barred: BannedWorker[];
  aside: { phase: number; match: string; errors: string[] }[];
  checked: number;
  unchecked: number;
  disagreed: number;
}
