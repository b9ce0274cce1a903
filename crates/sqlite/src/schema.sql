-- Runs, each in one row: its entry in lists, its holder, and its machine.
CREATE TABLE runs (
    id              TEXT    NOT NULL PRIMARY KEY,
    title           TEXT    NOT NULL,
    status          TEXT    NOT NULL,               -- Running, Waiting or Done
    reason          TEXT,                           -- the reason for the end of its last activation
    version         INTEGER NOT NULL DEFAULT 0,     -- commits made
    steps           INTEGER NOT NULL DEFAULT 0,
    waiting         INTEGER NOT NULL DEFAULT 0,     -- calls that wait
    mail            INTEGER NOT NULL DEFAULT 0,     -- decisions that were accepted and not taken
    cancel          TEXT,                           -- the reason of a requested cancellation
    thread          TEXT,
    holder          TEXT,
    held_until_ms   INTEGER,
    fence           INTEGER NOT NULL DEFAULT 0,     -- of the last lease
    committed_under INTEGER NOT NULL DEFAULT 0,     -- the fence of the last commit
    not_before_ms   INTEGER,                        -- it is not claimed before
    problem         TEXT,                           -- the reason for which it was not continued
    created_at_ms   INTEGER NOT NULL,
    changed_at_ms   INTEGER NOT NULL,               -- created or last committed
    ready           INTEGER NOT NULL GENERATED ALWAYS AS (
        status = 'Running' OR (status = 'Waiting' AND (mail > 0 OR cancel IS NOT NULL))
    ) VIRTUAL,
    snapshot        TEXT,                           -- JSON: its machine, sealed
    core            TEXT                            -- JSON: the rest of its state
) STRICT;
CREATE INDEX runs_newest ON runs (created_at_ms, id);
CREATE INDEX runs_by_status ON runs (status, created_at_ms, id);
-- The ready runs without a holder, and those with one: a commit changes neither index.
CREATE INDEX runs_free ON runs (changed_at_ms, id) WHERE ready = 1 AND holder IS NULL;
CREATE INDEX runs_held ON runs (held_until_ms) WHERE ready = 1 AND holder IS NOT NULL;

-- The specifications of runs, for their drivers. Apart from the runs, so that commits do not write them again.
CREATE TABLE specs (
    run  TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Messages, in order.
CREATE TABLE messages (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    role TEXT    NOT NULL,                          -- user, assistant or result
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Calls, each by its name in traces.
CREATE TABLE calls (
    run           TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name          TEXT    NOT NULL,
    id            TEXT    NOT NULL,                 -- the id that the model gave it
    step          INTEGER NOT NULL,
    ordinal       INTEGER NOT NULL,
    tool          TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    executions    INTEGER NOT NULL,
    open          INTEGER NOT NULL,                 -- 1: it waits without a decision
    suspension    TEXT,                             -- the id of its suspension
    action        TEXT,                             -- the question, for programs
    question      TEXT,                             -- the question, for people
    expires_at_ms INTEGER,
    arguments     TEXT,                             -- JSON: the arguments in the question
    asked         TEXT,                             -- JSON: all of the suspension
    snapshot      TEXT    NOT NULL,                 -- JSON: its machine, sealed
    PRIMARY KEY (run, name)
) STRICT;
CREATE INDEX calls_open ON calls (run, name) WHERE open = 1;
CREATE INDEX calls_open_by_name ON calls (name, run) WHERE open = 1;
CREATE INDEX calls_open_by_id ON calls (id, run, name) WHERE open = 1;
CREATE INDEX calls_open_by_suspension ON calls (suspension, run, name) WHERE open = 1;
CREATE INDEX calls_due ON calls (expires_at_ms, run, name) WHERE open = 1 AND expires_at_ms IS NOT NULL;

-- Decisions, in the order in which they came.
CREATE TABLE decisions (
    no            INTEGER PRIMARY KEY,
    run           TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    suspension    TEXT    NOT NULL,
    decision      TEXT    NOT NULL,
    call          TEXT    NOT NULL,
    action        TEXT    NOT NULL,                 -- resume or cancel
    actor         TEXT,
    reason        TEXT,
    decided_at_ms INTEGER NOT NULL,
    taken         INTEGER NOT NULL,                 -- 1: a commit holds it
    json          TEXT    NOT NULL,                 -- all of it
    UNIQUE (run, suspension),
    UNIQUE (run, decision)
) STRICT;
CREATE INDEX decisions_untaken ON decisions (run, no) WHERE taken = 0;

-- Persistent values of runs and of their threads.
CREATE TABLE run_values (
    run   TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,                            -- run or thread
    key   TEXT NOT NULL,
    json  TEXT NOT NULL,
    PRIMARY KEY (run, scope, key)
) STRICT, WITHOUT ROWID;

-- Events of traces.
CREATE TABLE trace (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;

-- One row: the count of inputs for all runs, by which a waiting process notices a new one.
CREATE TABLE news (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    count INTEGER NOT NULL
) STRICT;
INSERT INTO news VALUES (1, 0);
