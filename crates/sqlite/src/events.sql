-- Events of runs. Pieces of an answer are one row: `seq` is the number of the first, `last` that of the last.
CREATE TABLE events (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    last INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, last)
) STRICT, WITHOUT ROWID;

-- The number of the last commit of a run among those of all runs. Runs of an earlier version were committed in the order of their rows.
ALTER TABLE runs ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET changed = rowid WHERE version > 0;
CREATE INDEX runs_changed ON runs (changed) WHERE changed > 0;
ALTER TABLE news ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
UPDATE news SET commits = (SELECT coalesce(max(changed), 0) FROM runs);
