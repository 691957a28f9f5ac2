-- Browsers and addresses that have signed in to an account. Guesses from elsewhere cannot use up their attempts.
CREATE TABLE known_client (
    account INTEGER NOT NULL REFERENCES account,
    client  BLOB    NOT NULL CHECK (length(client) = 32),          -- hash of the browser's token or of the address
    seen    INTEGER NOT NULL,                                       -- last sign-in
    PRIMARY KEY (account, client)
) STRICT, WITHOUT ROWID;

-- What the files and trial records of a submission occupy on disk. Apart from `submission`, because an accepted bot never changes.
CREATE TABLE submission_disk (
    submission INTEGER PRIMARY KEY REFERENCES submission,
    account    INTEGER NOT NULL REFERENCES account,
    bytes      INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;
CREATE INDEX submission_disk_account ON submission_disk (account, bytes);
-- For the share of each account in the time of the checks.
CREATE INDEX submission_finished ON submission (account, finished);
