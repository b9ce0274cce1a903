-- One row: the fence that a run begins with, above each lease on those that were removed. So none of those is a lease on
-- another run of the same id.
CREATE TABLE fences (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    first INTEGER NOT NULL
) STRICT;
-- Of runs that were removed before nothing is known; those that are there have had the most leases, as likely as not.
INSERT INTO fences SELECT 1, coalesce(max(fence) + 1, 0) FROM runs;
