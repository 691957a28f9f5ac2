-- What authors write in the editor of the web app, before they submit it.
CREATE TABLE bot_draft (
    account     INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    competition TEXT    NOT NULL REFERENCES competition (id) ON DELETE CASCADE,
    bot         INTEGER NOT NULL,                  -- the entrant of which it becomes a version; 0: a new bot
    files       TEXT    NOT NULL,                  -- JSON, as the server writes it
    bytes       INTEGER NOT NULL,                  -- length of `files`
    revision    INTEGER NOT NULL,                  -- increases with each change
    changed     INTEGER NOT NULL,
    PRIMARY KEY (account, competition, bot)
) STRICT;
