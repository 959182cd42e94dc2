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
