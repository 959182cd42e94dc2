-- Given as nested objects: season, player. CROSS JOIN keeps the order: SQLite would read all players of the season.
-- name: held (sqlite)
SELECT r.player_id, r.season_id, r.value, r.listed, r.withheld
FROM json_each($1) AS wanted, json_each(wanted.value) AS given
CROSS JOIN standings r WHERE r.player_id = given.key AND r.season_id = wanted.key;

-- name: held (postgres)
SELECT r.player_id, r.season_id, r.value, r.listed, r.withheld
FROM json_each($1) AS wanted, json_each(wanted.value) AS given,
     {each} standings r WHERE r.player_id = CAST(given.key AS {guid}) AND r.season_id = CAST(wanted.key AS {guid}) {end_each};

-- name: held_between
SELECT player_id, season_id, value, listed, withheld FROM standings WHERE player_id > $1 AND player_id <= $2 AND season_id = $3;

-- All seasons of some players.
-- name: of_players
SELECT r.player_id, r.season_id, r.value, r.listed, r.withheld
FROM json_each($1) AS given, {each} standings r WHERE r.player_id = CAST(given.value->>'id' AS {guid}) {end_each};

-- Given as nested objects: season, whether listed or withheld, and player, with the value.
-- name: save
INSERT INTO standings (player_id, season_id, value, listed, withheld)
SELECT CAST(given.key AS {guid}), CAST(wanted.key AS {guid}), CAST(CAST(given.value AS TEXT) AS {long}),
       inner_level.key = 'listed', inner_level.key = 'withheld'
FROM json_each($1) AS wanted, json_each(wanted.value) AS inner_level, json_each(inner_level.value) AS given WHERE {true}
ON CONFLICT (player_id, season_id) DO UPDATE SET value = excluded.value, listed = excluded.listed,
                                                 withheld = excluded.withheld;

-- name: delete (sqlite)
DELETE FROM standings WHERE (player_id, season_id) IN (
    SELECT value->>'player_id', value->>'season_id' FROM json_each($1));

-- By the places of the rows, which only the holder of the lock changes: a join may scan the whole table.
-- name: delete (postgres)
DELETE FROM standings WHERE ctid = ANY (ARRAY(
    SELECT r.place
    FROM json_each($1) AS given,
         LATERAL (SELECT h.ctid AS place FROM standings h
                  WHERE h.player_id = CAST(given.value->>'player_id' AS uuid)
                    AND h.season_id = CAST(given.value->>'season_id' AS uuid) OFFSET 0) AS r));

-- name: of_season
SELECT player_id FROM standings WHERE season_id = $1 ORDER BY listed, value, player_id LIMIT $2;

-- The first bucket of a season, for all keys.
-- name: begin
INSERT INTO standing_buckets (season_id, quantity, player_id, entries) VALUES ($1, $2, $3, 0);

-- name: begin_block
INSERT INTO bucket_blocks (kind, thing_id, quantity, player_id, buckets, entries) VALUES ($1, $2, $3, $4, 1, 0);

-- name: clear_buckets
DELETE FROM standing_buckets WHERE season_id = $1;

-- Whether each player exists, and why it may not be listed: hidden, banned, staff.
-- name: visibility
SELECT r.id, EXISTS (SELECT 1 FROM hidden_accounts h WHERE h.user_id = r.user_id AND h.hidden),
       EXISTS (SELECT 1 FROM bans b WHERE b.user_id = r.user_id AND (b.ends_at IS NULL OR b.ends_at > {now})),
       (SELECT u.editor OR u.ban OR u.kick OR u.mute OR u.api OR u.users_query OR u.users_manage OR u.game_link
        FROM users u WHERE u.id = r.user_id)
       OR EXISTS (SELECT 1 FROM user_roles g WHERE g.user_id = r.user_id)
       OR EXISTS (SELECT 1 FROM user_permissions g WHERE g.user_id = r.user_id)
FROM json_each($1) AS given, {each} players r WHERE r.id = CAST(given.value->>'id' AS {guid}) {end_each};

-- The next accounts with any permission, after an id. They are few: SQLite would otherwise read all accounts after the id.
-- name: staff
WITH found AS MATERIALIZED (
    SELECT id FROM users WHERE editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link
    UNION ALL SELECT user_id FROM user_roles UNION ALL SELECT user_id FROM user_permissions)
SELECT DISTINCT id FROM found WHERE id > $1 ORDER BY id LIMIT $2;

-- name: players_of
SELECT r.id FROM json_each($1) AS given,
     {each} players r WHERE r.user_id = CAST(given.value->>'id' AS {guid}) {end_each};

-- name: levels_between
SELECT id, level, exp FROM players WHERE id > $1 AND id <= $2;

-- name: items_between
SELECT player_id, CAST(SUM(quantity) AS {long}) FROM slots
WHERE player_id > $1 AND player_id <= $2 AND item_id = $3 GROUP BY player_id;

-- name: variables_between
SELECT player_id, value FROM player_variables WHERE player_id > $1 AND player_id <= $2 AND variable_id = $3;

-- name: session_at, activity_at {table: play_sessions|player_activity}
SELECT player_id FROM {table} WHERE player_id > $1 ORDER BY player_id LIMIT 1 OFFSET $2;

-- Play time that is counted, within a range of times.
-- name: play_between (sqlite)
SELECT player_id, SUM(MIN(counted_to, $4) - MAX(started_at, $3)) FROM play_sessions
WHERE player_id > $1 AND player_id <= $2 AND counted_to > $3 AND started_at < $4 GROUP BY player_id;

-- name: play_between (postgres)
SELECT player_id, CAST(SUM(LEAST(counted_to, $4) - GREATEST(started_at, $3)) AS {long}) FROM play_sessions
WHERE player_id > $1 AND player_id <= $2 AND counted_to > $3 AND started_at < $4 GROUP BY player_id;

-- name: all_play_between
SELECT player_id, play_ms FROM player_activity WHERE player_id > $1 AND player_id <= $2;

-- A session that is not counted up to this time.
-- name: has_uncounted
SELECT 1 FROM (
    SELECT * FROM (SELECT 1 FROM play_sessions WHERE NOT counted AND (ended_at IS NOT NULL OR counted_to IS NULL)
                     AND started_at < $1 ORDER BY started_at, player_id LIMIT 1) AS waiting
    UNION ALL
    SELECT * FROM (SELECT 1 FROM play_sessions WHERE ended_at IS NULL AND counted_to IS NOT NULL AND counted_to < $1
                   ORDER BY counted_to LIMIT 1) AS continuing) AS found;

-- Listed players of the buckets that start above a key, up to the end of its block.
-- name: entries_above
SELECT CAST(COALESCE(SUM(entries), 0) AS {long}) FROM standing_buckets
WHERE season_id = $1 AND (quantity, player_id) > ($2, $3) AND (quantity, player_id) < ($4, $5);

-- name: bucket_above
SELECT quantity, player_id FROM standing_buckets WHERE season_id = $1 AND (quantity, player_id) > ($2, $3)
ORDER BY quantity, player_id LIMIT 1;

-- Listed players between two keys: within one bucket.
-- name: count_between
SELECT COUNT(*) FROM standings
WHERE season_id = $1 AND listed = {true} AND (value, player_id) > ($2, $3) AND (value, player_id) < ($4, $5);

-- name: of_person
SELECT p.name AS player, b.title AS board, s.title AS season, b.ranks, b.gain, r.value, r.listed
FROM players p JOIN standings r ON r.player_id = p.id
JOIN seasons s ON s.id = r.season_id JOIN boards b ON b.id = s.board_id
WHERE p.user_id = $1 ORDER BY b.name, s.number, p.id;

-- name: sums
SELECT season_id, COUNT(*) FROM standings WHERE listed GROUP BY season_id;

-- name: bucket_sums
SELECT season_id, CAST(SUM(entries) AS {long}) FROM standing_buckets GROUP BY season_id;
