-- name: standing
SELECT id, (SELECT COALESCE(MAX(seq), 0) FROM ledger), trimmed FROM epoch;

-- name: last_drawn (sqlite)
SELECT COALESCE(MAX(seq), 0) FROM ledger;

-- name: last_drawn (postgres)
SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ledger_seq;

-- SQLite has one writer at a time, so no transaction with a lower number can commit later.
-- name: own_transaction (sqlite)
SELECT 0;

-- name: own_transaction (postgres)
SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS bigint);

-- name: oldest_transaction (sqlite)
SELECT 0;

-- name: oldest_transaction (postgres)
SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS bigint);

-- name: last_written
SELECT COALESCE(MAX(seq), 0) FROM ledger WHERE seq <= $1;

-- name: between
SELECT l.seq, l.at, l.kind, l.player_id, l.before, l.after, u.name, l.request_id
FROM masked_ledger l LEFT JOIN users u ON u.id = l.actor_id
WHERE l.seq > $1 AND l.seq <= $2 AND (l.player_id IS NOT NULL OR l.kind IN ({without_player}))
  AND ($3 OR NOT l.over_link OR l.actor_id IS NULL OR l.actor_id <> $4)
ORDER BY l.seq LIMIT $5;

-- Changes of a player's data. A command changes none, and only the feed tells for which game server it is.
-- name: of_player
SELECT l.seq, l.at, l.kind, l.player_id, l.before, l.after, u.name, l.request_id
FROM masked_ledger l LEFT JOIN users u ON u.id = l.actor_id
WHERE l.player_id = $1 AND l.seq > $2 AND l.kind NOT IN ({commands})
  AND (NOT l.over_link OR l.actor_id IS NULL OR l.actor_id <> $3)
ORDER BY l.seq LIMIT $4;
