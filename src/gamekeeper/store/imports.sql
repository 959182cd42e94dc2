-- name: find
SELECT source, stage, last, report, listed, counts, finished_at FROM imports WHERE source = $1;

-- name: any_from
SELECT source FROM imports WHERE finished_at IS NULL OR finished_at >= $1 LIMIT 1;

-- The last column: whether a later import finished; that may have been a newer copy of the same game.
-- name: unfinished
SELECT stage, report, EXISTS (
    SELECT 1 FROM imports AS later WHERE later.started_at > imports.started_at AND later.finished_at IS NOT NULL)
FROM imports WHERE finished_at IS NULL ORDER BY started_at;

-- name: save
INSERT INTO imports (source, stage, last, report, listed, counts, started_at, finished_at)
VALUES ($1, $2, $3, $4, $5, $6, {now}, CASE WHEN $2 = 'done' THEN {now} END)
ON CONFLICT (source) DO UPDATE
SET stage = excluded.stage, last = excluded.last, listed = excluded.listed, counts = excluded.counts,
    finished_at = excluded.finished_at;

-- name: known_activity
SELECT id FROM activity_log WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: known_trades
SELECT id FROM trade_log WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));
