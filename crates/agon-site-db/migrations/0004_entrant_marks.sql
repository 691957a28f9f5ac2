-- Marks of entrants, such as (AI) and (exploit), which tables show after the name.
CREATE TABLE entrant_mark (
    entrant      INTEGER NOT NULL REFERENCES entrant ON DELETE CASCADE,
    mark         TEXT    NOT NULL,
    mark_key     TEXT    NOT NULL,                                   -- equal for spellings that differ only in case
    note         TEXT,                                               -- what the mark means here
    by_organiser INTEGER NOT NULL CHECK (by_organiser IN (0, 1)),    -- an author cannot change it
    PRIMARY KEY (entrant, mark_key)
) STRICT;
