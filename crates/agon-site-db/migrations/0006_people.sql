-- Profiles, teams, notifications, mail, webhooks, comments and search.

-- What an account says about itself. Without a row, the profile has only the account's name.
CREATE TABLE profile (
    account   INTEGER PRIMARY KEY REFERENCES account,
    shown     TEXT    NOT NULL,                     -- display name; '' for the account's name
    about     TEXT    NOT NULL,
    link      TEXT,
    list_bots INTEGER NOT NULL CHECK (list_bots IN (0, 1))
) STRICT;

-- The e-mail address of an account. Only the account sees it.
CREATE TABLE account_mail (
    account  INTEGER PRIMARY KEY REFERENCES account,
    address  TEXT    NOT NULL,
    verified INTEGER                                -- since when; NULL: its link was not opened yet
) STRICT;
CREATE INDEX account_mail_address ON account_mail (address COLLATE NOCASE) WHERE verified IS NOT NULL;

-- Links that prove something once: an address, or the right to a new password.
CREATE TABLE account_link (
    code    BLOB    PRIMARY KEY CHECK (length(code) = 32),         -- hash of the code
    account INTEGER NOT NULL REFERENCES account,
    purpose TEXT    NOT NULL CHECK (purpose IN ('verify-mail', 'reset-password')),
    address TEXT,                                   -- the address that the link proves
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX account_link_account ON account_link (account, purpose);

CREATE TABLE team (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT    NOT NULL,
    name_key  TEXT    NOT NULL,
    about     TEXT    NOT NULL,
    created   INTEGER NOT NULL,
    dissolved INTEGER
) STRICT;
CREATE UNIQUE INDEX team_name ON team (name_key) WHERE dissolved IS NULL;

CREATE TABLE team_member (
    team    INTEGER NOT NULL REFERENCES team,
    account INTEGER NOT NULL REFERENCES account,
    owner   INTEGER NOT NULL CHECK (owner IN (0, 1)),
    joined  INTEGER NOT NULL,
    PRIMARY KEY (team, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_member_account ON team_member (account);
CREATE UNIQUE INDEX team_owner ON team_member (team) WHERE owner = 1;

-- For one account, or for anyone with the link.
CREATE TABLE team_invitation (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    team    INTEGER NOT NULL REFERENCES team,
    account INTEGER REFERENCES account,
    code    BLOB    UNIQUE CHECK (code IS NULL OR length(code) = 32),
    by      INTEGER NOT NULL REFERENCES account,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    CHECK ((account IS NULL) != (code IS NULL)),
    UNIQUE (team, account)
) STRICT;
CREATE INDEX team_invitation_account ON team_invitation (account) WHERE account IS NOT NULL;

-- The team that a bot plays for; its `account` is the member who entered it.
ALTER TABLE entrant ADD COLUMN team INTEGER REFERENCES team;
CREATE INDEX entrant_team ON entrant (team) WHERE team IS NOT NULL;

-- Everyone whose limit of entrants a bot counts against. A person who leaves a team stays, so that leaving frees no place.
CREATE TABLE entrant_person (
    entrant INTEGER NOT NULL REFERENCES entrant ON DELETE CASCADE,
    account INTEGER NOT NULL REFERENCES account,
    PRIMARY KEY (account, entrant)
) STRICT, WITHOUT ROWID;
INSERT INTO entrant_person (entrant, account) SELECT id, account FROM entrant WHERE account IS NOT NULL;

CREATE TABLE notification (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES account,
    kind    TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    link    TEXT    NOT NULL,                       -- a path of this site
    topic   TEXT    NOT NULL,                       -- what it is about, to limit how often it is said
    shown   INTEGER NOT NULL CHECK (shown IN (0, 1)),              -- 0: the account wants it by other channels only
    created INTEGER NOT NULL,
    read    INTEGER
) STRICT;
CREATE INDEX notification_account ON notification (account, id);
CREATE INDEX notification_unread ON notification (account) WHERE read IS NULL AND shown = 1;
CREATE INDEX notification_topic ON notification (account, kind, topic, created);

-- What differs from the usual choice of channels.
CREATE TABLE notification_choice (
    account INTEGER NOT NULL REFERENCES account,
    kind    TEXT    NOT NULL,
    channel TEXT    NOT NULL CHECK (channel IN ('site', 'mail', 'webhook')),
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    PRIMARY KEY (account, kind, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE mail_queue (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    account  INTEGER NOT NULL REFERENCES account,
    address  TEXT    NOT NULL,
    subject  TEXT    NOT NULL,
    body     TEXT    NOT NULL,
    digest   INTEGER NOT NULL CHECK (digest IN (0, 1)),            -- may be sent together with others
    created  INTEGER NOT NULL,
    due      INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX mail_queue_due ON mail_queue (due);
-- When mails were sent to an account, for the limit per hour.
CREATE TABLE mail_sent (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES account,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX mail_sent_account ON mail_sent (account, at);

CREATE TABLE webhook (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    account     INTEGER NOT NULL REFERENCES account,               -- who created it
    competition TEXT,                               -- NULL: the notifications of the account
    url         TEXT    NOT NULL,
    secret      TEXT    NOT NULL,                   -- key of the signatures; it must be readable to sign with it
    created     INTEGER NOT NULL,
    failures    INTEGER NOT NULL DEFAULT 0,         -- in a row
    last_error  TEXT,
    disabled    INTEGER
) STRICT;
CREATE INDEX webhook_account ON webhook (account);
CREATE INDEX webhook_competition ON webhook (competition) WHERE competition IS NOT NULL;

CREATE TABLE webhook_delivery (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook  INTEGER NOT NULL REFERENCES webhook ON DELETE CASCADE,
    body     TEXT    NOT NULL,
    created  INTEGER NOT NULL,
    due      INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX webhook_delivery_due ON webhook_delivery (due);
CREATE INDEX webhook_delivery_webhook ON webhook_delivery (webhook);

CREATE TABLE comment (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    competition TEXT    NOT NULL,                   -- its id
    subject     TEXT    NOT NULL,                   -- '' for the competition, 'bot/ID', 'game/PHASE/MATCH/GAME'
    account     INTEGER NOT NULL REFERENCES account,
    parent      INTEGER REFERENCES comment,
    text        TEXT    NOT NULL,
    created     INTEGER NOT NULL,
    edited      INTEGER,
    deleted     INTEGER,
    hidden      INTEGER,
    hidden_by   INTEGER REFERENCES account,
    reason      TEXT                                -- why it is hidden
) STRICT;
CREATE INDEX comment_subject ON comment (competition, subject, id);
CREATE INDEX comment_account ON comment (account, id);

CREATE TABLE comment_report (
    comment INTEGER NOT NULL REFERENCES comment,
    account INTEGER NOT NULL REFERENCES account,
    reason  TEXT    NOT NULL,
    created INTEGER NOT NULL,
    settled INTEGER,                                -- when an organiser decided
    PRIMARY KEY (comment, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX comment_report_open ON comment_report (created) WHERE settled IS NULL;

ALTER TABLE competition ADD COLUMN comments INTEGER NOT NULL DEFAULT 1 CHECK (comments IN (0, 1));

-- Names for the search, in the form in which equal names are equal. One index for each kind, so that no search reads over the others. The
-- row is the id, because a full-text table finds only its row numbers fast.
CREATE VIRTUAL TABLE search_person USING fts5 (name, prefix = '1 2 3', tokenize = 'unicode61');
CREATE VIRTUAL TABLE search_bot USING fts5 (name, prefix = '1 2 3', tokenize = 'unicode61');
CREATE VIRTUAL TABLE search_team USING fts5 (name, prefix = '1 2 3', tokenize = 'unicode61');
CREATE VIRTUAL TABLE search_competition USING fts5 (name, prefix = '1 2 3', tokenize = 'unicode61');
INSERT INTO search_person (rowid, name) SELECT id, name_key FROM account;
INSERT INTO search_bot (rowid, name) SELECT id, name_key FROM entrant;
INSERT INTO search_competition (rowid, name) SELECT seq, name || ' ' || id FROM competition;

CREATE TRIGGER account_searched AFTER INSERT ON account
    BEGIN INSERT INTO search_person (rowid, name) VALUES (NEW.id, NEW.name_key); END;
CREATE TRIGGER entrant_searched AFTER INSERT ON entrant
    BEGIN INSERT INTO search_bot (rowid, name) VALUES (NEW.id, NEW.name_key); END;
CREATE TRIGGER entrant_renamed AFTER UPDATE OF name_key ON entrant
    BEGIN UPDATE search_bot SET name = NEW.name_key WHERE rowid = NEW.id; END;
CREATE TRIGGER entrant_gone AFTER DELETE ON entrant
    BEGIN DELETE FROM search_bot WHERE rowid = OLD.id; END;
CREATE TRIGGER team_searched AFTER INSERT ON team
    BEGIN INSERT INTO search_team (rowid, name) VALUES (NEW.id, NEW.name_key); END;
CREATE TRIGGER team_renamed AFTER UPDATE OF name_key ON team
    BEGIN UPDATE search_team SET name = NEW.name_key WHERE rowid = NEW.id; END;
CREATE TRIGGER competition_searched AFTER INSERT ON competition
    BEGIN INSERT INTO search_competition (rowid, name) VALUES (NEW.seq, NEW.name || ' ' || NEW.id); END;
CREATE TRIGGER competition_renamed AFTER UPDATE OF name ON competition
    BEGIN UPDATE search_competition SET name = NEW.name || ' ' || NEW.id WHERE rowid = NEW.seq; END;
CREATE TRIGGER competition_gone AFTER DELETE ON competition
    BEGIN DELETE FROM search_competition WHERE rowid = OLD.seq; END;
