-- One competition's ledger. Times are milliseconds since 1970 (UTC); digests are 32 bytes of SHA-256;
-- phases, stages, numbers, games, seats and entrants count from 0.

CREATE TABLE competition (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    name       TEXT    NOT NULL,
    game       TEXT    NOT NULL,
    rules      INTEGER NOT NULL,
    engine     TEXT    NOT NULL,
    commitment BLOB    NOT NULL,            -- SHA-256 of the secret seed
    revealed   INTEGER                      -- since when the seed may be shown
) STRICT;

-- Apart from the competition, so that nothing that shows the competition shows it.
CREATE TABLE secret (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seed TEXT NOT NULL
) STRICT;

-- The competition's file as it was started with (1), and what it was changed to since.
CREATE TABLE edition (
    edition INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    file    TEXT    NOT NULL,               -- the text
    normal  TEXT    NOT NULL                -- the same as normalised JSON
) STRICT;

CREATE TABLE phase (
    phase      INTEGER PRIMARY KEY,
    state      TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'published', 'closed')),
    final      BLOB,                        -- hash of the published table
    started    INTEGER,
    published  INTEGER,
    closed     INTEGER,
    -- sums over its matches, so that nobody has to count them
    matches    INTEGER NOT NULL DEFAULT 0,
    games      INTEGER NOT NULL DEFAULT 0,
    faults     INTEGER NOT NULL DEFAULT 0,
    last_match INTEGER NOT NULL DEFAULT 0   -- the highest match.id
) STRICT;

-- What whoever computes the table has made of the phase's matches up to `last_match`.
CREATE TABLE snapshot (
    phase      INTEGER PRIMARY KEY REFERENCES phase,
    last_match INTEGER NOT NULL,
    done       BLOB    NOT NULL,            -- which numbers of which stages those are
    bytes      BLOB    NOT NULL
) STRICT;

-- Packed folders: bots' archives and their data/.
CREATE TABLE blob (
    id    INTEGER PRIMARY KEY,
    hash  BLOB NOT NULL UNIQUE,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE bot (
    entrant      INTEGER NOT NULL,
    version      INTEGER NOT NULL,          -- from 1
    hash         TEXT    NOT NULL,          -- of all its files, as in records
    spec         TEXT    NOT NULL,          -- the BOT it was given as
    git_commit   TEXT,
    archive      INTEGER REFERENCES blob,
    from_phase   INTEGER NOT NULL REFERENCES phase,
    submitted    INTEGER NOT NULL,
    PRIMARY KEY (entrant, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE match (
    id       INTEGER PRIMARY KEY,           -- in the order they were appended
    phase    INTEGER NOT NULL REFERENCES phase,
    stage    INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    entrants TEXT    NOT NULL,              -- who played, a space around each: ' 3 17 204 '
    faults   INTEGER NOT NULL,              -- entries in the fault list
    digest   BLOB    NOT NULL,              -- of its games' digests and its points
    points   BLOB    NOT NULL,              -- packed, in seat order
    UNIQUE (phase, stage, number)
) STRICT;

CREATE TABLE game (
    match   INTEGER NOT NULL REFERENCES match,
    game    INTEGER NOT NULL,
    part    INTEGER NOT NULL,
    seed    INTEGER NOT NULL,               -- 64 bits; above 2^63 it shows as negative
    turns   INTEGER NOT NULL,
    ended   TEXT    NOT NULL,
    lost_by INTEGER,                        -- the seat that lost the whole match by a fault
    digest  BLOB    NOT NULL,               -- the record's
    seats   BLOB    NOT NULL,               -- packed results
    PRIMARY KEY (match, game)
) STRICT, WITHOUT ROWID;

-- Apart from the games, so that reading results does not read records.
CREATE TABLE record (
    match INTEGER NOT NULL,
    game  INTEGER NOT NULL,
    bytes BLOB    NOT NULL,                 -- as `agon play --record` writes it
    PRIMARY KEY (match, game),
    FOREIGN KEY (match, game) REFERENCES game
) STRICT;

CREATE TABLE fault (
    id      INTEGER PRIMARY KEY,
    match   INTEGER NOT NULL REFERENCES match,
    game    INTEGER NOT NULL,
    turn    INTEGER NOT NULL,
    seat    INTEGER NOT NULL,
    entrant INTEGER NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('timeout', 'crash', 'illegal', 'garbled')),
    says    TEXT    NOT NULL,
    stderr  TEXT    NOT NULL
) STRICT;
CREATE INDEX fault_entrant ON fault (entrant);

-- A bot's data/ folder after a match.
CREATE TABLE data (
    entrant INTEGER NOT NULL,
    phase   INTEGER NOT NULL,
    stage   INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    blob    INTEGER NOT NULL REFERENCES blob,
    PRIMARY KEY (entrant, phase, stage, number),
    FOREIGN KEY (phase, stage, number) REFERENCES match (phase, stage, number)
) STRICT, WITHOUT ROWID;

-- What was kept stays as it is, whoever asks.
CREATE TRIGGER match_taken BEFORE INSERT ON match
    WHEN (SELECT state FROM phase WHERE phase.phase = NEW.phase) IS NOT 'running'
    BEGIN SELECT RAISE (ABORT, 'the phase takes no matches'); END;
CREATE TRIGGER match_kept BEFORE UPDATE ON match BEGIN SELECT RAISE (ABORT, 'a kept match never changes'); END;
CREATE TRIGGER match_stays BEFORE DELETE ON match BEGIN SELECT RAISE (ABORT, 'a kept match never goes'); END;
CREATE TRIGGER game_kept BEFORE UPDATE ON game BEGIN SELECT RAISE (ABORT, 'a kept game never changes'); END;
CREATE TRIGGER game_stays BEFORE DELETE ON game BEGIN SELECT RAISE (ABORT, 'a kept game never goes'); END;
CREATE TRIGGER record_kept BEFORE UPDATE ON record BEGIN SELECT RAISE (ABORT, 'a kept record never changes'); END;
CREATE TRIGGER phase_moves_on BEFORE UPDATE OF state, final ON phase
    WHEN OLD.state IN ('published', 'closed')
        AND (NEW.final IS NOT OLD.final OR NEW.state NOT IN ('published', 'closed')
             OR (OLD.state = 'closed' AND NEW.state <> 'closed'))
    BEGIN SELECT RAISE (ABORT, 'a published phase never changes'); END;
CREATE TRIGGER secret_kept BEFORE UPDATE ON secret BEGIN SELECT RAISE (ABORT, 'the secret seed never changes'); END;
