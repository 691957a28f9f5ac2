-- Where many machines play: who played a match, and who is not believed any more.

ALTER TABLE match ADD COLUMN worker TEXT;       -- the machine's name, where there is more than one
CREATE INDEX match_worker ON match (worker, phase) WHERE worker IS NOT NULL;

CREATE TABLE barred (
    worker TEXT    PRIMARY KEY,
    why    TEXT    NOT NULL,
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Matches of a running phase that do not count because of who played them. They are played again.
CREATE TABLE withdrawn (
    match  INTEGER PRIMARY KEY,                 -- the number it had in the ledger
    phase  INTEGER NOT NULL,
    stage  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    worker TEXT,
    digest BLOB    NOT NULL,
    why    TEXT    NOT NULL,
    at     INTEGER NOT NULL
) STRICT;

DROP TRIGGER match_stays;
DROP TRIGGER game_stays;
CREATE TRIGGER match_stays BEFORE DELETE ON match
    WHEN NOT EXISTS (SELECT 1 FROM withdrawn WHERE withdrawn.match = OLD.id)
        OR (SELECT state FROM phase WHERE phase.phase = OLD.phase) IS NOT 'running'
    BEGIN SELECT RAISE (ABORT, 'a kept match never goes'); END;
CREATE TRIGGER game_stays BEFORE DELETE ON game
    WHEN NOT EXISTS (SELECT 1 FROM withdrawn WHERE withdrawn.match = OLD.match)
    BEGIN SELECT RAISE (ABORT, 'a kept game never goes'); END;
