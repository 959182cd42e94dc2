-- The epoch in which something began that acts by itself. In another epoch, the database was restored from an older state:
-- then jobs and mails are paused, approvals expire, and invitations are void.
--: The epoch of the database when it was started or resumed; null: by an older version.
ALTER TABLE bulk_jobs ADD COLUMN epoch {guid};
--: The epoch when it was requested; null: by an older version.
ALTER TABLE approvals ADD COLUMN epoch {guid};
--: The epoch when it was queued or retried; null: by an older version.
ALTER TABLE mails ADD COLUMN epoch {guid};
--: The epoch when it was made; null: by an older version.
ALTER TABLE invitations ADD COLUMN epoch {guid};
UPDATE bulk_jobs SET epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) WHERE state = 'running';
UPDATE approvals SET epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) WHERE state = 'waiting';
UPDATE mails SET epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) WHERE next_try_at IS NOT NULL;
UPDATE invitations SET epoch = (SELECT e.id FROM epoch e WHERE e.one = 1);
