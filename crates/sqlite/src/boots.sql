-- Boots of the machine, by the ids of its kernel, in the order of their use of the file. The store's clock begins with a boot: its times
-- in runs and calls are of the last boot.
CREATE TABLE boots (
    no   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL
) STRICT;
-- When the question of a call lapses by that clock; none where it lapses at a date, `expires_at_ms`, or does not.
ALTER TABLE calls ADD COLUMN lapses_at_ms INTEGER;
DROP INDEX calls_due;
CREATE INDEX calls_due ON calls (lapses_at_ms, run, name) WHERE open = 1 AND lapses_at_ms IS NOT NULL;
CREATE INDEX calls_due_by_date ON calls (expires_at_ms, run, name)
    WHERE open = 1 AND lapses_at_ms IS NULL AND expires_at_ms IS NOT NULL;
