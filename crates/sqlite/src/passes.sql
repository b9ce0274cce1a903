-- The gate of a call counts each pass, also one that asks or denies: that is no execution.
ALTER TABLE calls RENAME COLUMN executions TO passes;
