-- When the change of a player was undone, so that the undone changes of a bulk job are counted without the audit log.
ALTER TABLE bulk_targets ADD COLUMN undone_at {long};
ALTER TABLE bulk_targets ADD COLUMN undone_by {guid};
CREATE INDEX bulk_targets_by_change ON bulk_targets (seq) WHERE seq IS NOT NULL;
CREATE INDEX bulk_targets_by_undo ON bulk_targets (job_id, undone_at) WHERE seq IS NOT NULL;
-- Each undo in the audit log undoes a change, and flips every earlier change of its chain. So a change is undone if an
-- odd number of undos are above it in its chain.
UPDATE bulk_targets SET undone_at = found.at, undone_by = found.job_id
FROM (WITH RECURSIVE flipped (seq, undo) AS (
          SELECT undoes, seq FROM ledger WHERE undoes IS NOT NULL
          UNION ALL
          SELECT l.undoes, flipped.undo FROM flipped JOIN ledger l ON l.seq = flipped.seq WHERE l.undoes IS NOT NULL)
      SELECT undone.seq, l.at, (SELECT own.job_id FROM bulk_targets own WHERE own.seq = undone.undo) AS job_id
      FROM (SELECT seq, MAX(undo) AS undo FROM flipped GROUP BY seq HAVING COUNT(*) % 2 = 1) AS undone
      JOIN ledger l ON l.seq = undone.undo) AS found
WHERE bulk_targets.seq = found.seq;
