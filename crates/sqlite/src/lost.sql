-- Claims of a run in a row that ended with neither a step nor a release, and its steps at the last claim: the run is set aside once there are
-- too many.
ALTER TABLE runs ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN claimed_steps INTEGER NOT NULL DEFAULT 0;
