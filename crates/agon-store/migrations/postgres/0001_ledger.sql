-- One competition's ledger: a schema of its own, with the tables of the SQLite ledger (../000*.sql says what each column is) and two more.
-- Numbers are given by whoever writes (the highest and one), not by sequences, so that a ledger is the same wherever it is kept.
-- Text that has a NUL, which PostgreSQL does not keep, is kept with U+E000 '0' in its place, and U+E000 as U+E000 '1'.

-- That this schema is a ledger, of which version and under which name it is found.
CREATE TABLE ledger (
    id      BIGINT PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL,
    slug    TEXT   NOT NULL
);

-- Who plays it. The advisory lock says whether it is being played; `turn` grows with each who begins to, and whoever finds
-- another turn than its own writes nothing any more. Every change locks this row first: one change at a time.
CREATE TABLE running (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    turn  BIGINT NOT NULL,
    pid   BIGINT NOT NULL,
    host  TEXT   NOT NULL,
    since BIGINT NOT NULL
);
INSERT INTO running (id, turn, pid, host, since) VALUES (1, 0, 0, '', 0);

CREATE TABLE competition (
    id         BIGINT PRIMARY KEY CHECK (id = 1),
    name       TEXT   NOT NULL,
    game       TEXT   NOT NULL,
    rules      BIGINT NOT NULL,
    engine     TEXT   NOT NULL,
    commitment BYTEA  NOT NULL,
    revealed   BIGINT
);

-- Apart from the competition, so that the right to read it can be kept back.
CREATE TABLE secret (
    id   BIGINT PRIMARY KEY CHECK (id = 1),
    seed TEXT NOT NULL
);

CREATE TABLE edition (
    edition BIGINT PRIMARY KEY,
    at      BIGINT NOT NULL,
    file    TEXT   NOT NULL,
    normal  TEXT   NOT NULL
);

CREATE TABLE phase (
    phase           BIGINT PRIMARY KEY,
    state           TEXT   NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'published', 'closed')),
    final           BYTEA,
    started         BIGINT,
    published       BIGINT,
    closed          BIGINT,
    matches         BIGINT NOT NULL DEFAULT 0,
    games           BIGINT NOT NULL DEFAULT 0,
    faults          BIGINT NOT NULL DEFAULT 0,
    last_match      BIGINT NOT NULL DEFAULT 0,
    started_under   TEXT   NOT NULL DEFAULT ' ',
    published_under TEXT   NOT NULL DEFAULT ' '
);

CREATE TABLE snapshot (
    phase      BIGINT PRIMARY KEY REFERENCES phase,
    last_match BIGINT NOT NULL,
    done       BYTEA  NOT NULL,
    bytes      BYTEA  NOT NULL
);

CREATE TABLE blob (
    id    BIGINT PRIMARY KEY,
    hash  BYTEA NOT NULL UNIQUE,
    bytes BYTEA NOT NULL
);

CREATE TABLE bot (
    entrant    BIGINT NOT NULL,
    version    BIGINT NOT NULL,
    hash       TEXT   NOT NULL,
    spec       TEXT   NOT NULL,
    git_commit TEXT,
    archive    BIGINT REFERENCES blob,
    from_phase BIGINT NOT NULL REFERENCES phase,
    submitted  BIGINT NOT NULL,
    PRIMARY KEY (entrant, version)
);

CREATE TABLE match (
    id       BIGINT PRIMARY KEY,
    phase    BIGINT NOT NULL REFERENCES phase,
    stage    BIGINT NOT NULL,
    number   BIGINT NOT NULL,
    finished BIGINT NOT NULL,
    entrants TEXT   NOT NULL,
    faults   BIGINT NOT NULL,
    digest   BYTEA  NOT NULL,
    points   BYTEA  NOT NULL,
    worker   TEXT,
    UNIQUE (phase, stage, number)
);
CREATE INDEX match_worker ON match (worker, phase) WHERE worker IS NOT NULL;

CREATE TABLE game (
    match   BIGINT NOT NULL REFERENCES match,
    game    BIGINT NOT NULL,
    part    BIGINT NOT NULL,
    seed    BIGINT NOT NULL,
    turns   BIGINT NOT NULL,
    ended   TEXT   NOT NULL,
    lost_by BIGINT,
    digest  BYTEA  NOT NULL,
    seats   BYTEA  NOT NULL,
    PRIMARY KEY (match, game)
);

CREATE TABLE record (
    match BIGINT NOT NULL,
    game  BIGINT NOT NULL,
    bytes BYTEA  NOT NULL,
    PRIMARY KEY (match, game),
    FOREIGN KEY (match, game) REFERENCES game
);
-- Packed already.
ALTER TABLE record ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE blob ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE fault (
    id      BIGINT PRIMARY KEY,
    match   BIGINT NOT NULL REFERENCES match,
    game    BIGINT NOT NULL,
    turn    BIGINT NOT NULL,
    seat    BIGINT NOT NULL,
    entrant BIGINT NOT NULL,
    kind    TEXT   NOT NULL CHECK (kind IN ('timeout', 'crash', 'illegal', 'garbled')),
    says    TEXT   NOT NULL,
    stderr  TEXT   NOT NULL
);
CREATE INDEX fault_entrant ON fault (entrant);
CREATE INDEX fault_match ON fault (match);

CREATE TABLE data (
    entrant BIGINT NOT NULL,
    phase   BIGINT NOT NULL,
    stage   BIGINT NOT NULL,
    number  BIGINT NOT NULL,
    blob    BIGINT NOT NULL REFERENCES blob,
    PRIMARY KEY (entrant, phase, stage, number),
    FOREIGN KEY (phase, stage, number) REFERENCES match (phase, stage, number)
);
CREATE INDEX data_match ON data (phase, stage, number);

CREATE TABLE ruling (
    id                BIGINT PRIMARY KEY,
    kind              TEXT   NOT NULL CHECK (kind IN ('void', 'disqualify')),
    match             BIGINT REFERENCES match,
    entrant           BIGINT,
    reason            TEXT   NOT NULL,
    who               TEXT   NOT NULL,
    at                BIGINT NOT NULL,
    last_match        BIGINT NOT NULL,
    lifted            BIGINT,
    lifted_by         TEXT,
    lifted_for        TEXT,
    lifted_last_match BIGINT,
    CHECK ((kind = 'void') = (match IS NOT NULL) AND (kind = 'disqualify') = (entrant IS NOT NULL)),
    CHECK ((lifted IS NULL) = (lifted_by IS NULL) AND (lifted IS NULL) = (lifted_for IS NULL)
           AND (lifted IS NULL) = (lifted_last_match IS NULL))
);
CREATE UNIQUE INDEX ruling_void ON ruling (match) WHERE lifted IS NULL AND match IS NOT NULL;
CREATE UNIQUE INDEX ruling_disqualify ON ruling (entrant) WHERE lifted IS NULL AND entrant IS NOT NULL;

CREATE TABLE log (
    match BIGINT NOT NULL,
    game  BIGINT NOT NULL,
    seat  BIGINT NOT NULL,
    bytes BYTEA  NOT NULL,
    PRIMARY KEY (match, game, seat),
    FOREIGN KEY (match, game) REFERENCES game
);
ALTER TABLE log ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE log_size (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    bytes BIGINT NOT NULL
);
INSERT INTO log_size (id, bytes) VALUES (1, 0);

CREATE TABLE barred (
    worker TEXT   PRIMARY KEY,
    why    TEXT   NOT NULL,
    at     BIGINT NOT NULL
);

CREATE TABLE withdrawn (
    match  BIGINT PRIMARY KEY,
    phase  BIGINT NOT NULL,
    stage  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    worker TEXT,
    digest BYTEA  NOT NULL,
    why    TEXT   NOT NULL,
    at     BIGINT NOT NULL
);

-- What was kept stays as it is, whoever asks. Functions find the tables of this schema, whatever the caller's search_path.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;

CREATE FUNCTION match_taken() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM coming JOIN phase USING (phase) WHERE state <> 'running') THEN
        RAISE EXCEPTION 'the phase takes no matches';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER match_taken AFTER INSERT ON match REFERENCING NEW TABLE AS coming
    FOR EACH STATEMENT EXECUTE FUNCTION match_taken();

CREATE FUNCTION match_stays() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM going WHERE NOT EXISTS (SELECT 1 FROM withdrawn WHERE withdrawn.match = going.id))
        OR EXISTS (SELECT 1 FROM going JOIN phase USING (phase) WHERE state <> 'running') THEN
        RAISE EXCEPTION 'a kept match never goes';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER match_stays AFTER DELETE ON match REFERENCING OLD TABLE AS going
    FOR EACH STATEMENT EXECUTE FUNCTION match_stays();

CREATE FUNCTION game_stays() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM going WHERE NOT EXISTS (SELECT 1 FROM withdrawn WHERE withdrawn.match = going.match)) THEN
        RAISE EXCEPTION 'a kept game never goes';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER game_stays AFTER DELETE ON game REFERENCING OLD TABLE AS going
    FOR EACH STATEMENT EXECUTE FUNCTION game_stays();

CREATE TRIGGER match_kept BEFORE UPDATE ON match FOR EACH ROW EXECUTE FUNCTION refuse('a kept match never changes');
CREATE TRIGGER game_kept BEFORE UPDATE ON game FOR EACH ROW EXECUTE FUNCTION refuse('a kept game never changes');
CREATE TRIGGER record_kept BEFORE UPDATE ON record FOR EACH ROW EXECUTE FUNCTION refuse('a kept record never changes');
CREATE TRIGGER secret_kept BEFORE UPDATE ON secret FOR EACH ROW EXECUTE FUNCTION refuse('the secret seed never changes');
CREATE TRIGGER ruling_stays BEFORE DELETE ON ruling FOR EACH ROW EXECUTE FUNCTION refuse('a ruling never goes');
CREATE TRIGGER match_whole BEFORE TRUNCATE ON match FOR EACH STATEMENT EXECUTE FUNCTION refuse('a kept match never goes');
CREATE TRIGGER game_whole BEFORE TRUNCATE ON game FOR EACH STATEMENT EXECUTE FUNCTION refuse('a kept game never goes');
CREATE TRIGGER record_whole BEFORE TRUNCATE ON record FOR EACH STATEMENT EXECUTE FUNCTION refuse('a kept record never goes');
CREATE TRIGGER ruling_whole BEFORE TRUNCATE ON ruling FOR EACH STATEMENT EXECUTE FUNCTION refuse('a ruling never goes');

CREATE TRIGGER phase_moves_on BEFORE UPDATE OF state, final ON phase FOR EACH ROW
    WHEN (OLD.state IN ('published', 'closed')
        AND (NEW.final IS DISTINCT FROM OLD.final OR NEW.state NOT IN ('published', 'closed')
             OR (OLD.state = 'closed' AND NEW.state <> 'closed')))
    EXECUTE FUNCTION refuse('a published phase never changes');

CREATE TRIGGER ruling_kept BEFORE UPDATE ON ruling FOR EACH ROW
    WHEN (OLD.lifted IS NOT NULL OR NEW.lifted IS NULL
        OR (NEW.id, NEW.kind, NEW.reason, NEW.who, NEW.at, NEW.last_match)
            <> (OLD.id, OLD.kind, OLD.reason, OLD.who, OLD.at, OLD.last_match)
        OR NEW.match IS DISTINCT FROM OLD.match OR NEW.entrant IS DISTINCT FROM OLD.entrant)
    EXECUTE FUNCTION refuse('a ruling never changes; it can be lifted once');
