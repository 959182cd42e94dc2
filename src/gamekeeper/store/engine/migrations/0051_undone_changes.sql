-- Marks the changes of present bulk jobs that are undone. The indexes of migration 0050 are not there yet in a database in
-- use, so a table of its own with an index finds the rows. It is a migration of its own, so that no lock of 0050 waits for it.
CREATE TABLE undone_changes (seq {long} PRIMARY KEY, undo {long} NOT NULL, at {long} NOT NULL, job_id {guid});
CREATE INDEX undone_changes_by_undo ON undone_changes (undo);
-- Each undo in the audit log undoes a change, and flips every earlier change of its chain. So a change is undone if an
-- odd number of undos are above it in its chain.
INSERT INTO undone_changes (seq, undo, at)
WITH RECURSIVE flipped (seq, undo) AS (
    SELECT undoes, seq FROM ledger WHERE undoes IS NOT NULL
    UNION ALL
    SELECT l.undoes, flipped.undo FROM flipped JOIN ledger l ON l.seq = flipped.seq WHERE l.undoes IS NOT NULL)
SELECT undone.seq, undone.undo, l.at
FROM (SELECT seq, MAX(undo) AS undo FROM flipped GROUP BY seq HAVING COUNT(*) % 2 = 1) AS undone
JOIN ledger l ON l.seq = undone.undo;
UPDATE undone_changes SET job_id = own.job_id FROM bulk_targets own WHERE own.seq = undone_changes.undo;
UPDATE bulk_targets SET undone_at = (SELECT u.at FROM undone_changes u WHERE u.seq = bulk_targets.seq),
    undone_by = (SELECT u.job_id FROM undone_changes u WHERE u.seq = bulk_targets.seq)
WHERE seq IN (SELECT seq FROM undone_changes);
DROP TABLE undone_changes;
