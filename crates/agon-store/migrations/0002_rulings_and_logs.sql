-- What the organiser decided, and what bots printed.

-- Nothing of this ever goes; a ruling can be lifted once.
CREATE TABLE ruling (
    id                INTEGER PRIMARY KEY,
    kind              TEXT    NOT NULL CHECK (kind IN ('void', 'disqualify')),
    match             INTEGER REFERENCES match, -- what is void
    entrant           INTEGER,                  -- who is disqualified
    reason            TEXT    NOT NULL,
    who               TEXT    NOT NULL,         -- who decided
    at                INTEGER NOT NULL,
    last_match        INTEGER NOT NULL,         -- the highest match.id then: what is above it ended later
    lifted            INTEGER,
    lifted_by         TEXT,
    lifted_for        TEXT,
    lifted_last_match INTEGER,                  -- the highest match.id when it was lifted
    CHECK ((kind = 'void') = (match IS NOT NULL) AND (kind = 'disqualify') = (entrant IS NOT NULL)),
    CHECK ((lifted IS NULL) = (lifted_by IS NULL) AND (lifted IS NULL) = (lifted_for IS NULL)
           AND (lifted IS NULL) = (lifted_last_match IS NULL))
) STRICT;
-- One ruling on one thing at a time.
CREATE UNIQUE INDEX ruling_void ON ruling (match) WHERE lifted IS NULL AND match IS NOT NULL;
CREATE UNIQUE INDEX ruling_disqualify ON ruling (entrant) WHERE lifted IS NULL AND entrant IS NOT NULL;

CREATE TRIGGER ruling_kept BEFORE UPDATE ON ruling
    WHEN OLD.lifted IS NOT NULL OR NEW.lifted IS NULL
        OR (NEW.id, NEW.kind, NEW.reason, NEW.who, NEW.at, NEW.last_match)
            <> (OLD.id, OLD.kind, OLD.reason, OLD.who, OLD.at, OLD.last_match)
        OR NEW.match IS NOT OLD.match OR NEW.entrant IS NOT OLD.entrant
    BEGIN SELECT RAISE (ABORT, 'a ruling never changes; it can be lifted once'); END;
CREATE TRIGGER ruling_stays BEFORE DELETE ON ruling BEGIN SELECT RAISE (ABORT, 'a ruling never goes'); END;

-- The rulings in force when the phase began, and when its table came out: a space around each number, ' 1 4 '.
ALTER TABLE phase ADD COLUMN started_under TEXT NOT NULL DEFAULT ' ';
ALTER TABLE phase ADD COLUMN published_under TEXT NOT NULL DEFAULT ' ';

-- What a bot printed in a game. The oldest games' go first when there is too much of it.
CREATE TABLE log (
    match INTEGER NOT NULL,
    game  INTEGER NOT NULL,
    seat  INTEGER NOT NULL,
    bytes BLOB    NOT NULL,                     -- packed: see docs/ledger.md
    PRIMARY KEY (match, game, seat),
    FOREIGN KEY (match, game) REFERENCES game
) STRICT;
-- How many bytes these are, so that nobody has to add them up.
CREATE TABLE log_size (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    bytes INTEGER NOT NULL
) STRICT;
INSERT INTO log_size (id, bytes) VALUES (1, 0);
