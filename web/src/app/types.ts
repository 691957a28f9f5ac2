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
  /** Whether this visitor can play against bots. */
  play?: boolean;
  /** Whether the site sends mails, such as links for a new password. */
  mail?: boolean;
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
  settings: GameSetting[];
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

/** A setting of a game. */
export interface GameSetting {
  name: string;
  about: string;
  default: string;
  /** Whether it names a file that an organiser can upload. */
  file: boolean;
  /** What values it takes. */
  values: { kind: 'whole' | 'real' | 'choice' | 'list' | 'file'; min: number | null; max: number | null; words: string[]; drawn: boolean };
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
  /** The first one is for the first place. */
  prizes: string[];
  sponsors: Sponsor[];
  /** Since when the standings are frozen. */
  frozen_since: number | null;
}

export interface Sponsor {
  name: string;
  link: string | null;
  /** Address of a picture. */
  picture: string | null;
}

/** A freeze of the standings that is in force. */
export interface Freeze {
  since: number;
  /** Whether the response shows the state of that moment. Organisers see the current one. */
  hides: boolean;
  /** Number of places that are revealed, from the last one upwards, and of all places. */
  revealed: number;
  places: number;
  /** The revealed places, the last one first. */
  rows: { place: number | null; entrant: number; bot: number; name: string; role: string | null }[];
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
  frozen: Freeze | null;
  /** When the standings will be frozen, as the file has it. */
  freeze: { at: number | null; text: string | null; phase: number | null } | null;
}

/** A file of a draft: its path in the bot's folder. */
export interface DraftFile {
  path: string;
  text: string;
}

/** GET /competitions/{id}/draft?bot= (PUT with `files` and `revision`, DELETE) */
export interface Draft {
  files: DraftFile[];
  source: 'draft' | 'version' | 'starter';
  /** Sent with the next change; 0 if nothing is stored. */
  revision: number;
  changed: number | null;
  check: DraftCheck | null;
}

/** GET and POST /competitions/{id}/draft/check?bot= */
export interface DraftCheck {
  revision: number;
  state: 'queued' | 'checking' | 'accepted' | 'refused' | 'broke';
  report: CheckReport | null;
  /** GET /competitions/{id}/draft/trials/{n}?bot= returns their films. */
  trials: number;
}

/** GET /submissions/{id}/files; `text` is null if it is not text, or too long. */
export interface VersionFiles {
  files: { path: string; bytes: number; text: string | null }[];
  truncated: boolean;
}

/** GET /dashboard/events (server-sent): `machine` (SystemInfo), `workers` (WorkerList), `competitions` (CompetitionChange[]), `ping`. */
export interface CompetitionChange {
  id: string;
  /** Increases with every change of its pages. */
  revision: number;
  /** Number of its submissions that wait or are being checked. */
  pending: number;
}

/** Values of a competition file, by its keys. */
export interface FileValues {
  [key: string]: unknown;
}

/** A change of a competition file. A path is keys and indices with dots between them: `phase.0.format`. */
export type FileChange =
  | { change: 'set'; path: string; value: unknown }
  | { change: 'remove'; path: string }
  | { change: 'insert'; path: string; value: FileValues }
  | { change: 'move'; path: string; to: number };

/** An error in a competition file, at a value; `path` is null for the whole file. */
export interface FileError {
  path: string | null;
  line: number | null;
  column: number | null;
  what: string;
  hint: string;
}

/** POST /competition-files/change */
export interface ChangedFile {
  file: string;
  /** Null if the text is not TOML. */
  values: FileValues | null;
  errors: FileError[];
}

/** POST /competitions/{id}/freeze */
export interface FreezeState {
  frozen: Freeze | null;
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
  /** Since when the standings are frozen, if this is the state of that moment. */
  frozen: number | null;
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

// GET /competitions/{id}/events (server-sent): `progress` (Progress), `table` ({phase, revision}), `state` ({state, message}), `freeze`
// ({since, revealed}), `ping`.
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
  /** Page of the contributor: a person or a team. */
  contributor_page?: string | null;
  competition: string;
  game: string;
  /** Whether anybody may play against the bot and challenge it. PUT /competitions/{id}/bots/{bot}/practice {allowed} */
  practice?: boolean;
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

// Games of persons. The key of a seat is sent in the header X-Agon-Seat, and to the stream of events in the query `key`.

/** A seat of POST /play. The caller takes the seat of the first person, or the one in `seat`. */
export type PlaySeatChoice = { person: true } | { house: string } | { bot: number };

/** POST /play returns PlayTicket. */
export interface NewPlay {
  game: string;
  seats: PlaySeatChoice[];
  clock: 'rules' | 'none';
  /** Values as text. */
  settings?: { [name: string]: string };
  seed?: string;
  name?: string;
  seat?: number;
}

/** A seat that has been taken: POST /play, POST /play/{id}/seats/{seat} {name?}. `id` only after POST /play. */
export interface PlayTicket {
  id?: string;
  seat: number;
  key: string;
}

/** GET /play/opponents?game= */
export interface PlayOpponents {
  /** Weakest first, role by role. */
  house: { name: string; about: string; roles: string[] }[];
  bots: { bot: number; name: string; contributor: string | null; competition: string; competition_name: string; role: string | null }[];
}

/** GET /play/{id}, and the event `lobby` */
export interface PlayInfo {
  id: string;
  game: string;
  state: 'lobby' | 'playing' | 'over';
  clock: 'rules' | 'none';
  /** The name of a free seat is empty. */
  seats: { kind: 'person' | 'house' | 'bot'; name: string; role: string; taken: boolean; mine: boolean; left: boolean }[];
  names: string[];
  /** Id of the finished game. */
  played: string | null;
  error: string | null;
}

/** Event `ask`: the person at the seat must answer. */
export interface PlayAsk {
  turn: number;
  request: { name: string; asks: string; example: string; keys: { key: string; answer: string }[] };
  /** Legal answers, in the form of the record. */
  legal: string[];
  /** Remaining time at `asked_at`; null without a clock. */
  limit_ms: number | null;
  asked_at: number;
}
// GET /play/{id}/events?key= (server-sent): `lobby` (PlayInfo), `head` (a live film of what the seat sees), `part` (as for live games), `ask`,
// `refused` ({turn, message}), `wait` ({seats}), `end` ({outcome, played}), `ping`. A new connection gets everything from `head` on.
// POST /play/{id}/answers {turn, answer}; DELETE /play/{id}/seats/{seat} leaves.

/** GET /played/{id}: a game outside of the competitions. /played/{id}/film, /played/{id}/record. */
export interface PlayedGame {
  id: string;
  kind: 'person' | 'challenge' | 'practice';
  game: string;
  competition: string | null;
  challenge: string | null;
  /** Number of the game within its challenge, from 1. */
  number: number;
  seats: PlayedSeat[];
  settings: { [name: string]: unknown };
  ended: string;
  started: number;
  finished: number;
  /** Path of the film; null if the record is not kept. */
  film: string | null;
}

export interface PlayedSeat {
  name: string;
  kind: 'person' | 'house' | 'bot';
  role: string;
  bot: number | null;
  /** The competition of the bot. */
  competition: string | null;
  house: string | null;
  /** The author of the bot, or the account of the person. */
  contributor: string | null;
  score: number;
  place: number;
  mine: boolean;
}

export interface TeamName {
  id: number;
  name: string;
}

/** A bot on the profile of a person or a team. */
export interface ProfileBot {
  bot: number;
  name: string;
  entrant: number | null;
  team: TeamName | null;
  competition: string;
  competition_name: string;
  state: CompetitionState;
  game: string;
  version: number | null;
  rank: number | null;
  of: number;
  medal: 'gold' | 'silver' | 'bronze' | null;
  /** Ratings of the phases it played. */
  ratings: { phase: number; name: string; version: number | null; rating: number; error: number }[];
}

/** GET /people/{name} */
export interface PersonPage {
  name: string;
  shown: string;
  about: string;
  link: string | null;
  role: Role;
  since: number;
  mine: boolean;
  teams: TeamName[];
  /** Null if the person does not list them. */
  bots: ProfileBot[] | null;
  /** Gold, silver, bronze. */
  medals: [number, number, number];
}

/** GET and PUT /me/profile */
export interface OwnProfile {
  shown: string;
  about: string;
  link: string | null;
  list_bots: boolean;
}

/** GET /me/mail; PUT {address}; DELETE */
export interface OwnMail {
  address: string | null;
  verified: boolean;
  available: boolean;
}

export interface TeamInvitation {
  id: number;
  team: TeamName;
  /** Null for a link. */
  account: string | null;
  by: string;
  expires: number;
  /** Only in the response that creates it. */
  link?: string;
}

/** GET /teams/{id}; POST /teams and PUT /teams/{id} {name, about} */
export interface TeamPage {
  id: number;
  name: string;
  about: string;
  since: number;
  dissolved: boolean;
  members: { id: number; name: string; owner: boolean; since: number }[];
  mine: boolean;
  owner: boolean;
  invitations: TeamInvitation[];
  bots: ProfileBot[];
  medals: [number, number, number];
}

/** GET /me/teams */
export interface MyTeams {
  teams: TeamName[];
  invitations: TeamInvitation[];
}

export type NotificationKind = 'check_done' | 'overtaken' | 'crashed' | 'phase_begins' | 'comment_reply' | 'team_invitation' | 'challenge_done';
export type NotificationChannel = 'site' | 'mail' | 'webhook';

/** GET /me/notifications; POST /me/notifications/read {up_to} or {only} */
export interface NotificationItem {
  id: number;
  kind: NotificationKind;
  text: string;
  link: string;
  at: number;
  read: boolean;
}

/** GET and PUT /me/notifications/settings */
export interface NotificationSettings {
  settings: { kind: NotificationKind; channel: NotificationChannel; enabled: boolean }[];
}

/** GET and POST /me/webhooks {url, competition?}; DELETE /me/webhooks/{id}; POST /me/webhooks/{id}/enable and /test */
export interface Webhook {
  id: number;
  url: string;
  competition: string | null;
  /** Only in the response that creates it. */
  secret?: string;
  created: number;
  failures: number;
  last_error: string | null;
  disabled: boolean;
}

/** Comments: GET and POST /competitions/{id}/comments, PATCH and DELETE /comments/{id}, POST /comments/{id}/reports,
 *  PUT and DELETE /comments/{id}/hidden */
export interface CommentItem {
  id: number;
  competition: string;
  /** Empty for the competition, `bot/ID` or `game/PHASE/MATCH/GAME`. */
  subject: string;
  author: string;
  mine: boolean;
  parent: number | null;
  text: string;
  at: number;
  edited: number | null;
  deleted: boolean;
  /** Why an organiser hid it. */
  hidden: string | null;
  /** Number of open reports, for organisers. */
  reports?: number;
  reasons?: string[];
}

export interface CommentPage extends ListPage<CommentItem> {
  /** Whether there can be new comments. */
  open: boolean;
}

/** GET /search?q=&kind= */
export interface SearchItem {
  kind: 'person' | 'team' | 'bot' | 'competition' | 'game';
  name: string;
  link: string;
  competition: string | null;
  game: string | null;
}

/** A player of a practice ladder. */
export interface PracticeLadderPlayer {
  /** null for a house bot. */
  bot: number | null;
  name: string;
  house: boolean;
  contributor: string | null;
  role: string | null;
  version: number | null;
  /** Whether it is the latest version. */
  current: boolean;
  rating: number | null;
  /** Half the width of the 95 % interval. */
  error: number | null;
  games: number;
  faults: number;
  /** The latest results, W, D or L, the newest last. */
  form: string;
  mine: boolean;
  /** Why it takes no part; for its author and organisers. */
  failed: string | null;
}

/** GET /competitions/{id}/practice; PUT {ladder} switches it on or off */
export interface PracticeLadder {
  on: boolean;
  /** Whether it plays in the current state of the competition. */
  open: boolean;
  playing: boolean;
  games: number;
  /** By role, the best first. */
  players: PracticeLadderPlayer[];
}

/** GET /competitions/{id}/bots/{bot}/practice; PUT {allowed} */
export interface BotPractice {
  allowed: boolean;
  can_allow: boolean;
  can_challenge: boolean;
  /** The latest last. */
  versions: PracticeLadderPlayer[];
}

/** A bot of POST /challenges {game | competition, bots, games, settings?} */
export type ChallengeChoice = { bot: number } | { house: string };

/** GET /challenges/opponents?game= */
export interface ChallengeOpponents {
  bots: { bot: number; name: string; contributor: string | null; competition: string; competition_name: string; game: string; role: string | null; mine: boolean }[];
}

/** GET /challenges/{id}, and the event `challenge` of /challenges/{id}/events; in GET /challenges without `items` */
export interface Challenge {
  id: string;
  state: 'queued' | 'playing' | 'done' | 'failed' | 'cancelled';
  error: string | null;
  game: string;
  competition: string | null;
  by: string;
  mine: boolean;
  settings: { [name: string]: unknown };
  games: number;
  played: number;
  /** Challenges before it in the queue. */
  waiting: number;
  created: number;
  started: number | null;
  finished: number | null;
  bots: {
    name: string;
    bot: number | null;
    competition: string | null;
    version: number | null;
    house: string | null;
    role: string | null;
    wins: number;
    win_share: { mean: number; low: number; high: number } | null;
    score: number | null;
    place: number | null;
  }[];
  /** Index of the bot at each seat, and the game. */
  items: { bots: number[]; game: PlayedGame }[];
}
