-- The checkpoint's number, whether the blocks include every bulk load, the id of the server's current run, and the list
-- changes since a mark with the new mark (both null if there are none).
-- name: news (sqlite)
SELECT number, loads = built, {life},
       (SELECT MAX(mark) FROM list_changes WHERE mark > CAST($1 AS INTEGER)),
       (SELECT json_group_array(json_array(list, level, exp, word, step)) FROM list_changes
        WHERE mark > CAST($1 AS INTEGER))
FROM lists;

-- A mark is a snapshot, because a transaction with a lower id may commit later. New changes are those of transactions
-- that are after the snapshot, or were running in it. The new mark ends at the newest change that was read, because
-- higher transaction ids may be used again after a crash.
-- name: news (postgres)
WITH since AS MATERIALIZED (
    SELECT CAST(CAST($1 AS text) AS pg_snapshot) AS mark
), fresh AS MATERIALIZED (
    SELECT mark, list, level, exp, word, step FROM list_changes
    WHERE mark >= (SELECT pg_snapshot_xmax(mark) FROM since) AND mark < pg_snapshot_xmax(pg_current_snapshot())
    UNION ALL
    SELECT late.mark, late.list, late.level, late.exp, late.word, late.step
    FROM since, pg_snapshot_xip(since.mark) AS under_way (number),
         LATERAL (SELECT * FROM list_changes WHERE mark = under_way.number OFFSET 0) AS late
), ending AS (
    SELECT GREATEST((SELECT CAST(CAST(pg_snapshot_xmax(mark) AS text) AS bigint) FROM since),
                    (SELECT MAX(CAST(CAST(mark AS text) AS bigint)) + 1 FROM fresh)) AS at
), running AS (
    SELECT CAST(CAST(x AS text) AS bigint) AS x FROM pg_snapshot_xip(pg_current_snapshot()) AS x
)
SELECT number, loads = built, {life},
       (SELECT concat(LEAST(ending.at, CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)), ':',
                      ending.at, ':',
                      (SELECT string_agg(CAST(x AS text), ',' ORDER BY x) FROM running WHERE x < ending.at))
        FROM ending WHERE EXISTS (SELECT FROM fresh)),
       (SELECT json_agg(json_build_array(list, level, exp, word, step)) FROM fresh)
FROM lists;

-- name: checkpoint
SELECT number, loads = built AND cluster = {cluster}, {life}, mark, loads FROM lists;

-- name: blocks
SELECT list, buckets FROM list_blocks ORDER BY list, place;

-- name: save_checkpoint
UPDATE lists SET number = number + $1, mark = $2, built = loads, cluster = {cluster}
WHERE loads = $3 AND number <= $4 RETURNING number;

-- name: clear_blocks
DELETE FROM list_blocks;

-- name: save_blocks
INSERT INTO list_blocks (list, place, buckets)
SELECT value->>'list', CAST(value->>'place' AS INTEGER), CAST(value->>'buckets' AS {json}) FROM json_each($1);

-- name: trim (sqlite)
DELETE FROM list_changes WHERE mark <= CAST($1 AS INTEGER);

-- The second condition deletes changes numbered by another server, whose transaction ids are in this server's future.
-- name: trim (postgres)
DELETE FROM list_changes
WHERE pg_visible_in_snapshot(mark, CAST(CAST($1 AS text) AS pg_snapshot))
   OR mark >= pg_snapshot_xmax(pg_current_snapshot());

-- name: mark_now (sqlite)
SELECT CAST(COALESCE(MAX(seq), 0) AS TEXT) FROM sqlite_sequence WHERE name = 'list_changes';

-- name: mark_now (postgres)
SELECT CAST(pg_current_snapshot() AS text);

-- name: load_unlisted
UPDATE lists SET loads = loads + 1, loading = {true};

-- name: resume
UPDATE lists SET loading = {false};

-- Triggers that log new rows on SQLite. Even when their condition is false they cost a quarter of a bulk load, so it
-- drops them and creates them again in its transaction. On PostgreSQL that would lock the tables, and these do nothing.
-- name: drop_players_listed, drop_users_listed (sqlite) {trigger: players_listed|users_listed}
DROP TRIGGER IF EXISTS {trigger};

-- name: drop_players_listed, drop_users_listed (postgres)
SELECT 0;
