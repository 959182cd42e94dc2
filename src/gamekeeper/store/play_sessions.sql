-- Triggers on `presence` insert and end the rows (schema.sql).
-- name: of_player
SELECT started_at, server, ended_at FROM play_sessions
WHERE player_id = $1 AND started_at < $2 ORDER BY started_at DESC LIMIT $3;

-- name: of_person
SELECT s.player_id, s.started_at, s.server, s.ended_at FROM play_sessions s
WHERE s.player_id = $1 AND s.started_at > $2 ORDER BY s.started_at LIMIT $3;

-- Sessions that began after $1 and are open: those that a migration began in a restored database.
-- name: delete_open
DELETE FROM play_sessions WHERE ended_at IS NULL AND started_at > $1;

-- name: end_open (sqlite)
UPDATE play_sessions SET ended_at = MAX(started_at, $1) WHERE ended_at IS NULL;

-- name: end_open (postgres)
UPDATE play_sessions SET ended_at = GREATEST(started_at, $1) WHERE ended_at IS NULL;

-- name: forget
UPDATE play_sessions SET player_id = $2 WHERE player_id = $1 AND ended_at IS NOT NULL RETURNING 1;

-- name: forget_activity
UPDATE player_activity SET player_id = $2 WHERE player_id = $1 RETURNING 1;

-- name: load
INSERT INTO play_sessions (player_id, started_at, server, ended_at) VALUES ($1, $2, $3, $4);

-- name: old
SELECT player_id, started_at FROM play_sessions WHERE counted AND ended_at < $1 ORDER BY ended_at LIMIT $2;

-- A list of keys: with a subquery PostgreSQL would expect a tenth of the table, and scan it.
-- name: delete
DELETE FROM play_sessions WHERE (player_id, started_at) IN (
    SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'started_at' AS {long}) FROM json_each($1));

-- name: after
SELECT player_id, started_at, server, ended_at, counted_to, counted FROM play_sessions
WHERE (player_id, started_at) > ($1, $2) ORDER BY player_id, started_at LIMIT $3;

-- Players whose presence and open session do not agree.
-- name: disagreeing
SELECT p.player_id FROM presence p WHERE NOT EXISTS (
    SELECT 1 FROM play_sessions s WHERE s.player_id = p.player_id AND s.ended_at IS NULL AND s.server = p.server)
UNION ALL
SELECT s.player_id FROM play_sessions s WHERE s.ended_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM presence p WHERE p.player_id = s.player_id) LIMIT $1;

-- name: note_deleted
UPDATE rollups SET value = $1 WHERE name = 'activity' AND value < $1;
