-- The ids of the runs that were removed, from this version on: no other run gets one. So a lease or a decision of a removed run is
-- never taken for that of another run, and a run need not begin above the leases of others.
CREATE TABLE removed (
    run TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
DROP TABLE fences;
