-- Whether everybody may play against this bot and challenge it. Its author decides.
ALTER TABLE entrant ADD COLUMN practice INTEGER NOT NULL DEFAULT 0 CHECK (practice IN (0, 1));

-- Challenges: some bots play a number of games for an account.
CREATE TABLE challenge (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,            -- drawn by chance
    account     INTEGER NOT NULL REFERENCES account,
    game        TEXT    NOT NULL,
    competition TEXT,                               -- id of the competition whose settings it uses
    bots        TEXT    NOT NULL CHECK (json_valid(bots)),
    settings    TEXT    NOT NULL CHECK (json_valid(settings)),
    games       INTEGER NOT NULL CHECK (games > 0),
    state       TEXT    NOT NULL CHECK (state IN ('queued', 'playing', 'done', 'failed', 'cancelled')),
    error       TEXT,
    created     INTEGER NOT NULL,
    started     INTEGER,
    finished    INTEGER
) STRICT;
CREATE INDEX challenge_account ON challenge (account, seq);
CREATE INDEX challenge_open ON challenge (state, seq) WHERE state IN ('queued', 'playing');

-- Games outside of competitions: by persons, of challenges, of the practice ladder. Their records are files.
CREATE TABLE played_game (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,            -- drawn by chance; names the files
    kind        TEXT    NOT NULL CHECK (kind IN ('person', 'challenge', 'practice')),
    game        TEXT    NOT NULL,
    competition TEXT,                               -- id of the competition of a practice game, or whose settings a challenge uses
    challenge   TEXT    REFERENCES challenge (id),
    number      INTEGER NOT NULL,                   -- of the game within its challenge, from 0
    owner       INTEGER REFERENCES account,         -- who had it played; NULL: the system, or a visitor
    settings    TEXT    NOT NULL CHECK (json_valid(settings)),
    seed        INTEGER NOT NULL,
    outcome     TEXT    NOT NULL CHECK (json_valid(outcome)),
    bytes       INTEGER NOT NULL CHECK (bytes >= 0), -- of its files; 0: they were removed
    started     INTEGER NOT NULL,
    ended       INTEGER NOT NULL
) STRICT;
CREATE INDEX played_game_challenge ON played_game (challenge, number) WHERE challenge IS NOT NULL;
CREATE INDEX played_game_competition ON played_game (competition, seq) WHERE competition IS NOT NULL;
CREATE INDEX played_game_owner ON played_game (owner, seq) WHERE owner IS NOT NULL;
CREATE INDEX played_game_files ON played_game (kind, seq, bytes) WHERE bytes > 0;

CREATE TABLE played_seat (
    played     INTEGER NOT NULL REFERENCES played_game ON DELETE CASCADE,
    seat       INTEGER NOT NULL,                    -- from 0
    name       TEXT    NOT NULL,
    account    INTEGER REFERENCES account,          -- the person, or the author of the bot
    entrant    INTEGER REFERENCES entrant ON DELETE SET NULL,
    submission TEXT,                                -- id of the version that played
    house      TEXT,                                -- name of the house bot
    PRIMARY KEY (played, seat)
) STRICT, WITHOUT ROWID;
CREATE INDEX played_seat_entrant ON played_seat (entrant, played) WHERE entrant IS NOT NULL;
CREATE INDEX played_seat_account ON played_seat (account, played) WHERE account IS NOT NULL;

-- Competitions whose practice ladder an organiser has switched off.
CREATE TABLE practice_off (
    competition INTEGER PRIMARY KEY REFERENCES competition ON DELETE CASCADE
) STRICT;

-- Players of the practice ladder of a competition: versions of bots, and house bots.
CREATE TABLE practice_player (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    competition    INTEGER NOT NULL REFERENCES competition ON DELETE CASCADE,
    entrant        INTEGER REFERENCES entrant ON DELETE CASCADE,
    submission     INTEGER REFERENCES submission,   -- the version
    house          TEXT,                            -- name of a house bot
    role           TEXT    NOT NULL,                -- empty in games with one role
    games          INTEGER NOT NULL DEFAULT 0,
    faults         INTEGER NOT NULL DEFAULT 0,
    beaten         REAL    NOT NULL DEFAULT 0,      -- opponents beaten; a shared place counts half
    beaten_squares REAL    NOT NULL DEFAULT 0,      -- sum of the squares, game by game
    form           TEXT    NOT NULL DEFAULT '',     -- the latest results, W, D or L, the newest last
    rating         REAL,
    error          REAL,                            -- half the width of the 95 % interval
    failed         TEXT,                            -- why it takes no part, such as a bot that no longer starts
    CHECK ((submission IS NULL) = (entrant IS NULL)),
    CHECK ((submission IS NULL) <> (house IS NULL)),
    UNIQUE (competition, submission, role),
    UNIQUE (competition, house, role)
) STRICT;
CREATE INDEX practice_player_entrant ON practice_player (entrant) WHERE entrant IS NOT NULL;

-- Results between two players of a ladder; a < b. A draw counts half.
CREATE TABLE practice_pair (
    a     INTEGER NOT NULL REFERENCES practice_player ON DELETE CASCADE,
    b     INTEGER NOT NULL REFERENCES practice_player ON DELETE CASCADE,
    games INTEGER NOT NULL,
    won   REAL    NOT NULL,                         -- by a
    PRIMARY KEY (a, b),
    CHECK (a < b)
) STRICT, WITHOUT ROWID;
