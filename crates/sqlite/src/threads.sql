-- Places of runs on threads: `follows` is the run before it, and none for the first one. A run without a row here has a thread of its own.
CREATE TABLE threads (
    run     TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    thread  TEXT NOT NULL,
    follows TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX threads_in_order ON threads (follows) WHERE follows IS NOT NULL;
CREATE UNIQUE INDEX threads_begun ON threads (thread) WHERE follows IS NULL;
CREATE INDEX threads_by_name ON threads (thread, run);

-- Messages for runs that wait: `version` is the last commit before, and the next commit takes it.
CREATE TABLE posts (
    run     TEXT    NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    json    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
