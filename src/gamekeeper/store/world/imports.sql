-- name: find
SELECT source, stage, last, report, listed, CAST(counts AS TEXT), finished_at FROM imports WHERE source = $1;

-- Return whether an import was still running at a time or started later.
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

-- name: known_activity, known_trades {table: activity_log|trade_log}
SELECT id FROM {table} WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: known_of_players, known_of_users, known_of_guilds {table: player_leftovers|user_leftovers|guild_leftovers}
--   {owner_id: player_id|user_id|guild_id}
SELECT {owner_id}, kind FROM {table} WHERE {owner_id} IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: load_of_players, load_of_users, load_of_guilds {table: player_leftovers|user_leftovers|guild_leftovers}
--   {owner_id: player_id|user_id|guild_id}
INSERT INTO {table} ({owner_id}, kind, data) VALUES ($1, $2, $3);

-- name: of_person
SELECT user_id AS owner_id, kind, data FROM user_leftovers WHERE user_id = $1
UNION ALL
SELECT own.player_id, own.kind, own.data FROM players JOIN player_leftovers AS own ON own.player_id = players.id
WHERE players.user_id = $1 ORDER BY 1, 2;

-- name: leftovers_of_player
SELECT player_id, kind, CAST(data AS TEXT) FROM player_leftovers WHERE player_id = $1 ORDER BY kind;

-- name: insert_leftovers_of_player
INSERT INTO player_leftovers (player_id, kind, data)
SELECT CAST(value->>'owner_id' AS {guid}), value->>'kind', CAST(value->>'data' AS {json}) FROM json_each($1);
