-- Walks: players in an order, after a key. Each has a statement for either direction.

-- part: columns
id, user_id, fold, level, exp, class_id, map_id, last_online;

-- name: by_name, by_name_down {after: fold > $1|fold < $1} {order: ORDER BY fold|ORDER BY fold DESC}
SELECT {columns} FROM players WHERE {after} {order} LIMIT $2;

-- name: by_class, by_class_down, by_map, by_map_down {column: class_id|class_id|map_id|map_id}
--   {after: fold > $2|fold < $2|fold > $2|fold < $2}
--   {order: ORDER BY fold|ORDER BY fold DESC|ORDER BY fold|ORDER BY fold DESC}
SELECT {columns} FROM players WHERE {column} = $1 AND {after} {order} LIMIT $3;

-- name: by_rank, by_rank_down {after: > ($1, $2, $3)|< ($1, $2, $3)} {to: <= $4|>= $4}
--   {order: ORDER BY level, exp, id|ORDER BY level DESC, exp DESC, id DESC}
SELECT {columns} FROM players WHERE (level, exp, id) {after} AND level {to} {order} LIMIT $5;

-- name: by_seen, by_seen_down {after: > ($1, $2)|< ($1, $2)} {to: <= $3|>= $3}
--   {order: ORDER BY last_online, id|ORDER BY last_online DESC, id DESC}
SELECT {columns} FROM players WHERE (last_online, id) {after} AND last_online {to} {order} LIMIT $4;

-- name: unseen, unseen_down {after: id > $1|id < $1} {order: ORDER BY id|ORDER BY id DESC}
SELECT {columns} FROM players WHERE last_online IS NULL AND {after} {order} LIMIT $2;

-- Keys of walks over other tables: the players are read by their ids.

-- name: online_by_name, online_by_name_down {after: fold > $1|fold < $1}
--   {order: ORDER BY fold, player_id|ORDER BY fold DESC, player_id DESC}
SELECT fold, player_id FROM presence
WHERE {after} {order} LIMIT $2;

-- name: online_by_rank, online_by_rank_down {after: > ($1, $2, $3)|< ($1, $2, $3)} {to: <= $4|>= $4}
--   {order: ORDER BY level, exp, player_id|ORDER BY level DESC, exp DESC, player_id DESC}
SELECT level, exp, player_id FROM presence
WHERE (level, exp, player_id) {after} AND level {to} {order} LIMIT $5;

-- name: online_by_id, online_by_id_down {after: player_id > $1|player_id < $1}
--   {order: ORDER BY player_id|ORDER BY player_id DESC}
SELECT player_id FROM presence
WHERE {after} {order} LIMIT $2;

-- name: by_quantity, by_quantity_down {after: > ($2, $3)|< ($2, $3)}
--   {order: ORDER BY quantity, player_id|ORDER BY quantity DESC, player_id DESC}
SELECT quantity, player_id FROM holdings
WHERE kind = 'item' AND thing_id = $1 AND (quantity, player_id) {after} {order} LIMIT $4;

-- Bans by account, from an account on; also ended ones, so that the number of rows read is limited.
-- name: bans
SELECT user_id, ends_at IS NULL OR ends_at > {now} FROM bans WHERE user_id >= $1 ORDER BY user_id LIMIT $2;

-- name: of_ids, of_users {key: r.id =|r.user_id =}
SELECT r.id, r.user_id, r.fold, r.level, r.exp, r.class_id, r.map_id, r.last_online
FROM json_each($1) AS wanted, {each} players r WHERE {key} CAST(value->>'id' AS {guid}) {end_each};

-- Accounts whose ban is in force, at most $1 permanent and $1 temporary ones. The index skips ended bans.
-- name: banned
SELECT * FROM (SELECT user_id FROM bans WHERE ends_at IS NULL ORDER BY ends_at DESC, started_at DESC LIMIT $1) AS for_good
UNION ALL
SELECT * FROM (SELECT user_id FROM bans WHERE ends_at > {now} ORDER BY ends_at DESC LIMIT $1) AS for_a_time;

-- Numbers of players that have one property, counted up to a limit. The ORDER BY makes PostgreSQL use the index.
-- name: count_class, count_map {column: class_id|map_id}
SELECT COUNT(*) FROM (SELECT 1 FROM players WHERE {column} = $1 ORDER BY fold LIMIT $2) AS found;

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
