-- Triggers on `presence` insert and end the rows (migration 0037).
-- name: sessions_of_player
SELECT started_at, server, ended_at FROM play_sessions
WHERE player_id = $1 AND started_at < $2 ORDER BY started_at DESC LIMIT $3;

-- name: of_person
SELECT s.player_id, s.started_at, s.server, s.ended_at FROM play_sessions s
WHERE s.player_id = $1 AND s.started_at > $2 ORDER BY s.started_at LIMIT $3;

-- Sessions that began after $1 and are open: those that a migration began in a restored database.
-- name: delete_open_sessions
DELETE FROM play_sessions WHERE ended_at IS NULL AND started_at > $1;

-- name: end_open_sessions (sqlite)
UPDATE play_sessions SET ended_at = MAX(started_at, $1) WHERE ended_at IS NULL;

-- name: end_open_sessions (postgres)
UPDATE play_sessions SET ended_at = GREATEST(started_at, $1) WHERE ended_at IS NULL;

-- name: forget_sessions
UPDATE play_sessions SET player_id = $2 WHERE player_id = $1 AND ended_at IS NOT NULL RETURNING 1;

-- name: forget_activity
UPDATE player_activity SET player_id = $2 WHERE player_id = $1 RETURNING 1;

-- name: load_sessions
INSERT INTO play_sessions (player_id, started_at, server, ended_at) VALUES ($1, $2, $3, $4);

-- name: old_sessions
SELECT player_id, started_at FROM play_sessions WHERE counted AND ended_at < $1 ORDER BY ended_at LIMIT $2;

-- A list of keys: with a subquery PostgreSQL would expect a tenth of the table, and scan it.
-- name: delete_sessions
DELETE FROM play_sessions WHERE (player_id, started_at) IN (
    SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'started_at' AS {long}) FROM json_each($1));

-- name: sessions_after
SELECT player_id, started_at, server, ended_at, counted_to, counted FROM play_sessions
WHERE (player_id, started_at) > ($1, $2) ORDER BY player_id, started_at LIMIT $3;

-- Players whose presence and open session do not agree.
-- name: disagreeing_sessions
SELECT p.player_id FROM presence p WHERE NOT EXISTS (
    SELECT 1 FROM play_sessions s WHERE s.player_id = p.player_id AND s.ended_at IS NULL AND s.server = p.server)
UNION ALL
SELECT s.player_id FROM play_sessions s WHERE s.ended_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM presence p WHERE p.player_id = s.player_id) LIMIT $1;

-- name: note_deleted_sessions
UPDATE rollups SET value = $1 WHERE name = 'activity' AND value < $1;

-- name: count
SELECT COUNT(*) FROM presence;

-- name: count_servers
SELECT COUNT(*) FROM servers;

-- name: count_of_server
SELECT COUNT(*) FROM presence WHERE server = $1;

-- Counts the players on each game server up to $1. The ORDER BY makes PostgreSQL use the index; without it, it would scan
-- the whole table for a server with few players.
-- name: servers
SELECT s.name, s.expires_at,
       (SELECT COUNT(*) FROM (SELECT 1 FROM presence o WHERE o.server = s.name ORDER BY o.fold LIMIT $1) AS counted)
FROM servers s ORDER BY s.name LIMIT $2;

-- The players on one game server after a folded name, in order of name, or before it, in descending order.
-- name: after_name, before_name {after: fold > $2|fold < $2}
--   {order: ORDER BY fold, player_id|ORDER BY fold DESC, player_id DESC}
SELECT fold, player_id FROM presence WHERE server = $1 AND {after} {order} LIMIT $3;

-- name: servers_of
SELECT r.player_id, r.server
FROM json_each($1) AS wanted, {each} presence r WHERE r.player_id = CAST(value->>'id' AS {guid}) {end_each};

-- name: records_from_name
SELECT r.document, r.class_name, r.map_name, r.online, r.last_online
FROM (SELECT fold, player_id FROM presence WHERE fold >= $1
      ORDER BY fold, player_id LIMIT $2 OFFSET $3) AS page,
     {each} player_records r WHERE r.id = page.player_id {end_each}
ORDER BY page.fold, page.player_id;

-- name: keys_by_name
SELECT fold FROM presence WHERE fold >= $1 ORDER BY fold LIMIT $2;

-- name: lows_by_name
SELECT fold FROM (SELECT fold, row_number() OVER (ORDER BY fold) AS n FROM presence) AS numbered
WHERE n % $1 = 1 ORDER BY n;

-- name: records_from_rank
SELECT r.document, r.class_name, r.map_name, r.online, r.last_online
FROM (SELECT level, exp, player_id FROM presence WHERE (level, exp, player_id) >= ($1, $2, $3)
      ORDER BY level, exp, player_id LIMIT $4 OFFSET $5) AS page,
     {each} player_records r WHERE r.id = page.player_id {end_each}
ORDER BY page.level, page.exp, page.player_id;

-- name: keys_by_rank
SELECT level, exp, player_id FROM presence WHERE (level, exp, player_id) >= ($1, $2, $3)
ORDER BY level, exp, player_id LIMIT $4;

-- name: lows_by_rank
SELECT level, exp, player_id
FROM (SELECT level, exp, player_id, row_number() OVER (ORDER BY level, exp, player_id) AS n FROM presence) AS numbered
WHERE n % $1 = 1 ORDER BY n;

-- name: is_online
SELECT 1 FROM presence WHERE player_id = $1;

-- name: server_of
SELECT server FROM presence WHERE player_id = $1;

-- Return whether a game server's lease is active, and lock it: other transactions cannot move its players.
-- name: lock_server
SELECT name, expires_at FROM servers WHERE name = $1 AND expires_at > {now} {for_update};

-- name: live_servers
SELECT name FROM servers WHERE expires_at > {now} ORDER BY name;

-- name: server
SELECT name, expires_at FROM servers WHERE name = $1;

-- name: save_server
INSERT INTO servers (name, expires_at, applied_seq) VALUES ($1, {now} + $2, $3)
ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at,
    applied_seq = CASE WHEN excluded.applied_seq > COALESCE(servers.applied_seq, 0) THEN excluded.applied_seq
                       ELSE servers.applied_seq END;

-- name: save_applied
UPDATE presence SET applied_seq = $2 WHERE player_id = $1 AND COALESCE(applied_seq, 0) < $2;

-- name: known_players
SELECT id FROM players WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- Locks each account before its players, in the same order as an erasure. While the account is locked, no ban or mute of
-- it is running: moderation locks the account too, and then reads which of its players are online.
-- name: lock_players
SELECT p.id FROM users u JOIN players p ON p.user_id = u.id
WHERE p.id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1))
ORDER BY u.id, p.created_at, p.id {keep_key};

-- The receipt of a player is its game server's: another game server has not given one.
-- name: join
INSERT INTO presence (player_id, server, fold, level, exp)
SELECT p.id, CAST($1 AS TEXT), p.fold, p.level, p.exp FROM players p
WHERE p.id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($2)) {keep_key}
ON CONFLICT (player_id) DO UPDATE SET server = excluded.server,
    applied_seq = CASE WHEN presence.server = excluded.server THEN presence.applied_seq END;

-- name: seen_players
UPDATE players SET last_online = {now}
WHERE id IN (SELECT o.player_id FROM presence o
             WHERE o.server = $1 AND o.player_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($2)));

-- name: leave
DELETE FROM presence
WHERE server = $1 AND player_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($2));

-- name: any_lapsed
SELECT 1 FROM servers WHERE expires_at <= {now} - $1 LIMIT 1;

-- name: lapsed_servers
SELECT name FROM servers WHERE expires_at <= {now} ORDER BY name {for_update};

-- name: seen_server
UPDATE players SET last_online = {now} WHERE id IN (SELECT player_id FROM presence WHERE server = $1);

-- name: drop_presence
DELETE FROM presence WHERE server = $1;

-- name: drop_server
DELETE FROM servers WHERE name = $1;

-- name: seen_everybody
UPDATE players SET last_online = $1 WHERE id IN (SELECT player_id FROM presence);

-- Play sessions end with the lease of their game server, if that has expired.
-- name: end_leases
UPDATE servers SET expires_at = $1 WHERE expires_at > $1;

-- name: drop_everybody
DELETE FROM presence;

-- name: drop_servers
DELETE FROM servers;

-- Copy a player's sort keys into the ordered lists of online players; None leaves the folded name unchanged.
-- name: update_sort_keys
UPDATE presence SET fold = COALESCE($2, fold), level = $3, exp = $4 WHERE player_id = $1;

-- name: on_server
SELECT player_id FROM presence
WHERE server = $1 AND player_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($2));
