-- Freezes of the standings: from `since` on, only organisers see new results, until they lift the freeze.
CREATE TABLE standings_freeze (
    competition TEXT    PRIMARY KEY REFERENCES competition (id) ON DELETE CASCADE,
    since       INTEGER NOT NULL,
    revealed    INTEGER NOT NULL DEFAULT 0 CHECK (revealed >= 0),     -- number of places shown, from the last one upwards
    lifted      INTEGER                                               -- NULL: still frozen
) STRICT;
