-- When the change of a player was undone, so that the undone changes of a bulk job are counted without the audit log.
--: When the change was undone; null: it is not undone.
ALTER TABLE bulk_targets ADD COLUMN undone_at {long};
--: The job that undid it; null: a single undo.
ALTER TABLE bulk_targets ADD COLUMN undone_by {guid};
CREATE INDEX bulk_targets_by_change ON bulk_targets (seq) WHERE seq IS NOT NULL;
CREATE INDEX bulk_targets_by_undo ON bulk_targets (job_id, undone_at) WHERE seq IS NOT NULL;
