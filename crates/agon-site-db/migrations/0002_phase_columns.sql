-- Until now the settings `next.ID` and `closed.ID` held these two facts of a competition.
ALTER TABLE competition ADD COLUMN allowed_phase INTEGER NOT NULL DEFAULT 0;        -- last phase, from 0, that an organiser let start
ALTER TABLE competition ADD COLUMN closed_between_phases INTEGER NOT NULL DEFAULT 0 -- no new versions while it waits for its next phase
    CHECK (closed_between_phases IN (0, 1));
UPDATE competition SET
    allowed_phase = COALESCE((SELECT CAST(value AS INTEGER) FROM setting WHERE key = 'next.' || competition.id), 0),
    closed_between_phases = EXISTS (SELECT 1 FROM setting WHERE key = 'closed.' || competition.id);
DELETE FROM setting WHERE key IN (SELECT 'next.' || id FROM competition UNION ALL SELECT 'closed.' || id FROM competition);
