-- The ids of the runs that were removed, from this version on: none is given to another run. So nothing that was meant for one, a lease or a decision,
-- is ever taken for that of another, and a run need not begin above the leases of others.
CREATE TABLE removed (
    run TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
DROP TABLE fences;
