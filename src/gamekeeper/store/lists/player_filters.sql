-- Walks: players in an order, after a key. Each has a statement for either direction.

-- name: by_name
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE fold > $1 ORDER BY fold LIMIT $2;

-- name: by_name_down
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE fold < $1 ORDER BY fold DESC LIMIT $2;

-- name: by_class
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE class_id = $1 AND fold > $2 ORDER BY fold LIMIT $3;

-- name: by_class_down
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE class_id = $1 AND fold < $2 ORDER BY fold DESC LIMIT $3;

-- name: by_map
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE map_id = $1 AND fold > $2 ORDER BY fold LIMIT $3;

-- name: by_map_down
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE map_id = $1 AND fold < $2 ORDER BY fold DESC LIMIT $3;

-- name: by_rank
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE (level, exp, id) > ($1, $2, $3) AND level <= $4 ORDER BY level, exp, id LIMIT $5;

-- name: by_rank_down
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE (level, exp, id) < ($1, $2, $3) AND level >= $4 ORDER BY level DESC, exp DESC, id DESC LIMIT $5;

-- name: by_seen
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE (last_online, id) > ($1, $2) AND last_online <= $3 ORDER BY last_online, id LIMIT $4;

-- name: by_seen_down
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE (last_online, id) < ($1, $2) AND last_online >= $3 ORDER BY last_online DESC, id DESC LIMIT $4;

-- name: unseen
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE last_online IS NULL AND id > $1 ORDER BY id LIMIT $2;

-- name: unseen_down
SELECT id, user_id, fold, level, exp, class_id, map_id, last_online FROM players
WHERE last_online IS NULL AND id < $1 ORDER BY id DESC LIMIT $2;

-- Keys of walks over other tables: the players are read by their ids.

-- name: online_by_name
SELECT fold, player_id FROM presence
WHERE fold > $1 ORDER BY fold, player_id LIMIT $2;

-- name: online_by_name_down
SELECT fold, player_id FROM presence
WHERE fold < $1 ORDER BY fold DESC, player_id DESC LIMIT $2;

-- name: online_by_rank
SELECT level, exp, player_id FROM presence
WHERE (level, exp, player_id) > ($1, $2, $3) AND level <= $4 ORDER BY level, exp, player_id LIMIT $5;

-- name: online_by_rank_down
SELECT level, exp, player_id FROM presence
WHERE (level, exp, player_id) < ($1, $2, $3) AND level >= $4 ORDER BY level DESC, exp DESC, player_id DESC LIMIT $5;

-- name: online_by_id
SELECT player_id FROM presence
WHERE player_id > $1 ORDER BY player_id LIMIT $2;

-- name: online_by_id_down
SELECT player_id FROM presence
WHERE player_id < $1 ORDER BY player_id DESC LIMIT $2;

-- name: by_quantity
SELECT quantity, player_id FROM holdings
WHERE kind = 'item' AND thing_id = $1 AND (quantity, player_id) > ($2, $3) ORDER BY quantity, player_id LIMIT $4;

-- name: by_quantity_down
SELECT quantity, player_id FROM holdings
WHERE kind = 'item' AND thing_id = $1 AND (quantity, player_id) < ($2, $3) ORDER BY quantity DESC, player_id DESC LIMIT $4;

-- Bans by account, from an account on; also ended ones, so that the number of rows read is limited.
-- name: bans
SELECT user_id, ends_at IS NULL OR ends_at > {now} FROM bans WHERE user_id >= $1 ORDER BY user_id LIMIT $2;

-- name: of_ids
SELECT r.id, r.user_id, r.fold, r.level, r.exp, r.class_id, r.map_id, r.last_online
FROM json_each($1) AS wanted, {each} players r WHERE r.id = CAST(value->>'id' AS {guid}) {end_each};

-- name: of_users
SELECT r.id, r.user_id, r.fold, r.level, r.exp, r.class_id, r.map_id, r.last_online
FROM json_each($1) AS wanted, {each} players r WHERE r.user_id = CAST(value->>'id' AS {guid}) {end_each};

-- Accounts whose ban is in force, at most $1 permanent and $1 temporary ones. The index skips ended bans.
-- name: banned
SELECT * FROM (SELECT user_id FROM bans WHERE ends_at IS NULL ORDER BY ends_at DESC, started_at DESC LIMIT $1) AS for_good
UNION ALL
SELECT * FROM (SELECT user_id FROM bans WHERE ends_at > {now} ORDER BY ends_at DESC LIMIT $1) AS for_a_time;

-- Numbers of players that have one property, counted up to a limit. The ORDER BY makes PostgreSQL use the index.
-- name: count_class
SELECT COUNT(*) FROM (SELECT 1 FROM players WHERE class_id = $1 ORDER BY fold LIMIT $2) AS found;

-- name: count_map
SELECT COUNT(*) FROM (SELECT 1 FROM players WHERE map_id = $1 ORDER BY fold LIMIT $2) AS found;

-- name: count_levels
SELECT COUNT(*) FROM (SELECT 1 FROM players WHERE level >= $1 AND level <= $2 ORDER BY level, exp, id LIMIT $3) AS found;

-- name: count_seen
SELECT COUNT(*) FROM (SELECT 1 FROM players WHERE last_online >= $1 AND last_online <= $2 ORDER BY last_online, id LIMIT $3) AS found;

-- name: count_online
SELECT COUNT(*) FROM (SELECT 1 FROM presence WHERE fold >= '' ORDER BY fold LIMIT $1) AS found;

-- name: count_holders
SELECT COUNT(*) FROM (SELECT 1 FROM holdings WHERE kind = 'item' AND thing_id = $1 ORDER BY quantity, player_id LIMIT $2) AS found;

-- name: held
SELECT r.player_id, r.quantity
FROM json_each($2) AS wanted
     CROSS JOIN {each} holdings r WHERE r.player_id = CAST(value->>'id' AS {guid}) AND r.kind = 'item' AND r.thing_id = $1 {end_each};

-- The indexes are missing during a bulk load, and at first after an upgrade.
-- name: indexed (sqlite)
SELECT COUNT(*) = 3 FROM sqlite_master WHERE name IN ('players_by_class', 'players_by_map', 'players_by_seen');

-- name: indexed (postgres)
SELECT COUNT(*) = 3 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND i.indisvalid
  AND c.relname IN ('players_by_class', 'players_by_map', 'players_by_seen');
