-- Service runs, each in one row: the columns of lists, the lease, and the machines. The large columns are the last ones, so that lists do not
-- read them.
CREATE TABLE service_runs (
    id            TEXT    NOT NULL PRIMARY KEY,
    status        TEXT    NOT NULL,                 -- such as RUNNING
    final_status  TEXT,                             -- of the last pass
    current_step  TEXT,                             -- the node that executes, or executed last
    version       INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    change        INTEGER NOT NULL,                 -- the number of the last change among those of all service runs
    holder        TEXT,
    held_until_ms INTEGER,
    fence         INTEGER NOT NULL DEFAULT 0,       -- of the last lease
    lost          INTEGER NOT NULL DEFAULT 0,       -- leases since the last change that were not given back
    trace_lines   INTEGER NOT NULL,
    requested_by  TEXT    NOT NULL,                 -- JSON: the actors that created or resumed the run
    intent        TEXT    NOT NULL,
    id_lower      TEXT    NOT NULL,                 -- id and intent in lower case, for searches
    intent_lower  TEXT    NOT NULL,
    machine       TEXT    NOT NULL,                 -- JSON: the run as a machine, with a checksum
    pass          TEXT                              -- JSON: the pass as a machine, with a checksum
) STRICT;
CREATE INDEX service_runs_newest ON service_runs (created_at_ms, id);
CREATE INDEX service_runs_updated ON service_runs (updated_at_ms, id);
CREATE INDEX service_runs_by_status ON service_runs (status, created_at_ms, id);
CREATE INDEX service_runs_by_final_status ON service_runs (final_status, created_at_ms, id) WHERE final_status IS NOT NULL;
CREATE INDEX service_runs_by_change ON service_runs (change);
CREATE INDEX service_runs_free ON service_runs (lost, change) WHERE status = 'RUNNING' AND holder IS NULL;
CREATE INDEX service_runs_held ON service_runs (held_until_ms) WHERE status = 'RUNNING' AND holder IS NOT NULL;

-- Artifacts, by name.
CREATE TABLE service_artifacts (
    run  TEXT NOT NULL REFERENCES service_runs (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- Steps, timeline entries, events and trace lines. The numbers of a run begin with 1 and have no gap.
CREATE TABLE service_steps (
    run  TEXT    NOT NULL REFERENCES service_runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE service_timeline (
    run  TEXT    NOT NULL REFERENCES service_runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE service_events (
    run  TEXT    NOT NULL REFERENCES service_runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE service_trace (
    run  TEXT    NOT NULL REFERENCES service_runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Answers to requests with a key, for 24 hours. An answer survives its run.
CREATE TABLE service_answers (
    principal TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    digest    TEXT    NOT NULL,                     -- of the request
    json      TEXT    NOT NULL,
    at_ms     INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX service_answers_by_age ON service_answers (at_ms);

-- The hashes of sent transactions, each with its chain, and their runs. A removed run keeps them.
CREATE TABLE service_hashes (
    hash TEXT NOT NULL PRIMARY KEY,
    run  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The ids of removed service runs. No id is used again.
CREATE TABLE service_removed (
    run TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- One row: the number of the last change of any service run.
CREATE TABLE service_news (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    changes INTEGER NOT NULL
) STRICT;
INSERT INTO service_news VALUES (1, 0);
