-- One row: the fence that a run begins with, above each lease on those that were removed. So none of those is a lease on
-- another run of the same id.
CREATE TABLE fences (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    first INTEGER NOT NULL
) STRICT;
-- The leases of runs that were removed earlier are unknown. The present runs probably have had more.
INSERT INTO fences SELECT 1, coalesce(max(fence) + 1, 0) FROM runs;
