-- What a version of a bot says about itself (its name, its author), for tables. Only games whose tables show it have rows.
CREATE TABLE bot_description (
    entrant     INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    name        TEXT,
    contributor TEXT,
    PRIMARY KEY (entrant, version),
    FOREIGN KEY (entrant, version) REFERENCES bot
) STRICT, WITHOUT ROWID;

-- `game.seats` has the format version 3 from now on: each seat ends with the part of its time that empty answers cost, in nanoseconds.
-- Versions 1 and 2 are still read.
