-- Claims of a run in a row that ended with neither a commit nor a release: the run is set aside once there are too many.
ALTER TABLE runs ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
