-- What a server keeps beside its competitions' ledgers. Times are milliseconds since 1970 (UTC); hashes are 32 bytes of SHA-256.
-- Lists go by `seq` or `id`, which only ever grow (AUTOINCREMENT), so that a page can be asked for by where the last one ended.

CREATE TABLE setting (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE invitation (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    code      BLOB    NOT NULL UNIQUE CHECK (length(code) = 32),   -- hash of the code
    role      TEXT    NOT NULL CHECK (role IN ('organiser', 'author', 'spectator')),
    note      TEXT    NOT NULL,
    by        INTEGER REFERENCES account,           -- NULL: the system
    created   INTEGER NOT NULL,
    expires   INTEGER NOT NULL,
    uses      INTEGER NOT NULL CHECK (uses > 0),
    uses_left INTEGER NOT NULL CHECK (uses_left BETWEEN 0 AND uses),
    revoked   INTEGER
) STRICT;

CREATE TABLE account (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    name_key   TEXT    NOT NULL UNIQUE,             -- the same for names that people would mix up
    password   TEXT    NOT NULL,                    -- its hash, as the server writes it
    role       TEXT    NOT NULL CHECK (role IN ('organiser', 'author', 'spectator')),
    invitation INTEGER REFERENCES invitation,       -- the one it came by
    created    INTEGER NOT NULL,
    disabled   INTEGER                              -- since when
) STRICT;
CREATE INDEX account_organisers ON account (id) WHERE role = 'organiser' AND disabled IS NULL;

CREATE TABLE session (
    token   BLOB    PRIMARY KEY CHECK (length(token) = 32),        -- hash of the token
    account INTEGER NOT NULL REFERENCES account,
    csrf    TEXT    NOT NULL,
    created INTEGER NOT NULL,
    seen    INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    agent   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_account ON session (account);
CREATE INDEX session_expires ON session (expires);

CREATE TABLE token (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES account,
    label   TEXT    NOT NULL,
    hash    BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    created INTEGER NOT NULL,
    used    INTEGER,
    expires INTEGER,
    revoked INTEGER
) STRICT;
CREATE INDEX token_account ON token (account, id);

CREATE TABLE competition (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT    NOT NULL UNIQUE,        -- as it stands in addresses
    name            TEXT    NOT NULL,
    game            TEXT    NOT NULL,
    file            TEXT    NOT NULL,               -- where its competition file is
    origin          TEXT    NOT NULL CHECK (origin IN ('hosted', 'file')),
    state           TEXT    NOT NULL CHECK (state IN ('draft', 'open', 'closed', 'running', 'paused', 'waiting', 'over', 'failed')),
    message         TEXT,                           -- why it failed, or what it waits for
    public          INTEGER NOT NULL CHECK (public IN (0, 1)),
    per_contributor INTEGER,                        -- entrants of one account; NULL: any number
    max_bytes       INTEGER,                        -- of an upload; NULL: the server's own limit
    preset          TEXT    NOT NULL,
    by              INTEGER REFERENCES account,     -- NULL: the system
    created         INTEGER NOT NULL,
    seated          INTEGER                         -- when its entrants got their numbers
) STRICT;

CREATE TABLE entrant (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    competition INTEGER NOT NULL REFERENCES competition,
    account     INTEGER REFERENCES account,         -- NULL: a house bot
    name        TEXT    NOT NULL,
    name_key    TEXT    NOT NULL,
    role        TEXT,                               -- of the game
    bot         TEXT,                               -- the BOT, where nobody uploads one
    created     INTEGER NOT NULL,
    withdrawn   INTEGER,
    number      INTEGER,                            -- in the competition file, from 0; given when it starts
    CHECK (account IS NOT NULL OR bot IS NOT NULL),
    CHECK (number IS NULL OR withdrawn IS NULL),
    UNIQUE (competition, number)
) STRICT;
-- Who withdrew leaves the name to others.
CREATE UNIQUE INDEX entrant_name ON entrant (competition, name_key) WHERE withdrawn IS NULL;
CREATE INDEX entrant_account ON entrant (account, competition);

-- With the competition's id.
CREATE VIEW entrant_shown AS SELECT entrant.*, competition.id AS competition_id
    FROM entrant JOIN competition ON competition.seq = entrant.competition;

CREATE TABLE submission (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,            -- drawn by chance
    competition INTEGER NOT NULL REFERENCES competition,
    entrant     INTEGER NOT NULL REFERENCES entrant,
    account     INTEGER NOT NULL REFERENCES account,        -- who uploaded it
    version     INTEGER,                            -- within the entrant, from 1; given when it is accepted
    file        TEXT    NOT NULL,                   -- its name, as shown
    bytes       INTEGER NOT NULL,
    hash        BLOB    NOT NULL CHECK (length(hash) = 32), -- of the upload
    state       TEXT    NOT NULL CHECK (state IN ('queued', 'checking', 'accepted', 'refused', 'broke')),
    report      TEXT    CHECK (report IS NULL OR json_valid(report)),
    folder      TEXT,                               -- where the unpacked bot lies, below the data folder
    from_phase  INTEGER NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,         -- how often its check was begun
    created     INTEGER NOT NULL,
    started     INTEGER,
    finished    INTEGER,
    UNIQUE (entrant, version),
    CHECK ((version IS NOT NULL) = (state = 'accepted'))
) STRICT;
CREATE INDEX submission_queued ON submission (state, seq) WHERE state = 'queued';
CREATE INDEX submission_checking ON submission (entrant) WHERE state = 'checking';
CREATE INDEX submission_entrant ON submission (entrant, seq);
CREATE INDEX submission_account ON submission (account, seq);
CREATE INDEX submission_competition ON submission (competition, seq);

CREATE VIEW submission_shown AS SELECT submission.*, competition.id AS competition_id
    FROM submission JOIN competition ON competition.seq = submission.competition;

-- Records of the games a submission was tried in. Apart, so that lists do not read over them.
CREATE TABLE trial (
    submission INTEGER NOT NULL REFERENCES submission,
    trial      INTEGER NOT NULL,                    -- from 0
    record     BLOB    NOT NULL,
    PRIMARY KEY (submission, trial)
) STRICT;

CREATE TABLE audit (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL,
    account     INTEGER REFERENCES account,         -- NULL: the system
    action      TEXT    NOT NULL,
    competition TEXT,                               -- its id; it may be gone
    subject     TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    detail      TEXT    NOT NULL CHECK (json_valid(detail))
) STRICT;
CREATE INDEX audit_account ON audit (account, id);
CREATE INDEX audit_competition ON audit (competition, id);
CREATE INDEX audit_action ON audit (action, id);

-- What was written down stays, also for a slip in the `sqlite3` command.
CREATE TRIGGER audit_kept BEFORE UPDATE ON audit BEGIN SELECT RAISE (ABORT, 'the audit log never changes'); END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE (ABORT, 'the audit log never shrinks'); END;
CREATE TRIGGER audit_grows BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
    BEGIN SELECT RAISE (ABORT, 'the audit log never changes'); END;
-- A version that was given stays given.
CREATE TRIGGER version_kept BEFORE UPDATE ON submission WHEN OLD.state = 'accepted'
    BEGIN SELECT RAISE (ABORT, 'an accepted bot never changes'); END;
