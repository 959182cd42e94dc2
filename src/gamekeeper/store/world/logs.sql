-- Accounts of these ids that exist, locked against deletion until the transaction ends: entries that are added now are
-- found by the erasure of their account.
-- name: lock_users (sqlite)
SELECT r.id FROM json_each($1) AS given CROSS JOIN users r WHERE r.id = given.value->>'id';

-- name: lock_users (postgres)
SELECT r.id FROM users r WHERE r.id = ANY(ARRAY(SELECT CAST(value->>'id' AS uuid) FROM json_each($1)))
ORDER BY r.id FOR KEY SHARE;

-- name: named_users
SELECT given.value->>'fold', r.id
FROM json_each($1) AS given, {each} users r WHERE r.fold = given.value->>'fold' {end_each}
UNION ALL
SELECT given.value->>'fold', r.id
FROM json_each($1) AS given, {each} users r WHERE r.email_fold = given.value->>'fold' {end_each};

-- Entries in order of their ids, so that two batches with the same entries wait for each other in the same order.
-- name: add_activity
INSERT INTO activity_log (id, at, user_id, player_id, named_id, action, peer, address, meta)
SELECT CAST(value->>'id' AS {guid}), CAST(value->>'at' AS {long}), CAST(value->>'user_id' AS {guid}),
       CAST(value->>'player_id' AS {guid}), CAST(value->>'named_id' AS {guid}), value->>'action', value->>'peer',
       value->>'address', value->>'meta'
FROM json_each($1) WHERE {true} ORDER BY 1 ON CONFLICT (id) DO NOTHING RETURNING id;

-- name: add_trades
INSERT INTO trade_log (id, trade_id, at, user_id, player_id, target_id, address, items, target_items)
SELECT CAST(value->>'id' AS {guid}), CAST(value->>'trade_id' AS {guid}), CAST(value->>'at' AS {long}),
       CAST(value->>'user_id' AS {guid}), CAST(value->>'player_id' AS {guid}), CAST(value->>'target_id' AS {guid}),
       value->>'address', CAST(value->>'items' AS {json}), CAST(value->>'target_items' AS {json})
FROM json_each($1) WHERE {true} ORDER BY 1 ON CONFLICT (id) DO NOTHING RETURNING id;

-- name: note_addresses
INSERT INTO log_addresses (user_id, address, last_used)
SELECT CAST(value->>'user_id' AS {guid}), value->>'address', CAST(value->>'last_used' AS {long})
FROM json_each($1) WHERE {true} ORDER BY 1, 2
ON CONFLICT (user_id, address) DO UPDATE SET last_used = excluded.last_used
WHERE excluded.last_used > log_addresses.last_used;

-- name: add_counts
INSERT INTO log_counts (list, user_id, player_id, start, entries)
SELECT value->>'list', CAST(value->>'user_id' AS {guid}), CAST(value->>'player_id' AS {guid}),
       CAST(value->>'start' AS {long}), CAST(value->>'entries' AS {long})
FROM json_each($1) WHERE {true} ORDER BY 1, 2, 3, 4
ON CONFLICT (list, user_id, player_id, start) DO UPDATE SET entries = log_counts.entries + excluded.entries
RETURNING list, user_id, player_id, start, entries;

-- name: delete_counts
DELETE FROM log_counts WHERE (list, user_id, player_id, start) IN (
    SELECT value->>'list', CAST(value->>'user_id' AS {guid}), CAST(value->>'player_id' AS {guid}),
           CAST(value->>'start' AS {long}) FROM json_each($1));

-- name: delete_all_counts
DELETE FROM log_counts RETURNING 1;

-- name: count_all
INSERT INTO log_counts (list, user_id, player_id, start, entries)
SELECT 'activity', user_id, COALESCE(player_id, CAST($1 AS {guid})), at - at % 86400000, COUNT(*)
FROM activity_log GROUP BY 2, 3, 4
UNION ALL
SELECT 'activity_by_minute', CAST($1 AS {guid}), CAST($1 AS {guid}), at - at % 60000, COUNT(*)
FROM activity_log WHERE user_id = CAST($1 AS {guid}) GROUP BY 4
UNION ALL
SELECT 'trades', user_id, player_id, at - at % 86400000, COUNT(*) FROM trade_log GROUP BY 2, 3, 4
UNION ALL
SELECT 'trades_once', CAST($1 AS {guid}), CAST($1 AS {guid}), at - at % 86400000, COUNT(*)
FROM trade_log WHERE player_id < target_id GROUP BY 4
UNION ALL
SELECT 'trades_by_minute', CAST($1 AS {guid}), CAST($1 AS {guid}), at - at % 60000, COUNT(*)
FROM trade_log WHERE player_id < target_id GROUP BY 4;

-- Entries of a list by period, in order of time: of an account ($2), a player ($3) or both.
-- name: counts
SELECT start, CAST(SUM(entries) AS {long}) FROM (
    SELECT start, entries FROM log_counts
    WHERE list = $1 AND user_id = $2 AND CAST($3 AS {guid}) IS NULL AND start >= $4 AND start < $5
    UNION ALL
    SELECT start, entries FROM log_counts
    WHERE list = $1 AND CAST($2 AS {guid}) IS NULL AND player_id = $3 AND start >= $4 AND start < $5
    UNION ALL
    SELECT start, entries FROM log_counts
    WHERE list = $1 AND user_id = $2 AND player_id = $3 AND start >= $4 AND start < $5) AS found
GROUP BY start ORDER BY start;

-- Entries from a time on, without the first $5 of them.
-- name: activity, activity_backwards {start: at >= $3|at < $3} {order: ORDER BY at, id|ORDER BY at DESC, id DESC}
SELECT id, at, user_id, player_id, action, peer, address, meta FROM (
    SELECT * FROM (SELECT * FROM masked_activity
                   WHERE user_id = $1 AND CAST($2 AS {guid}) IS NULL AND {start}
                   {order} LIMIT $4 OFFSET $5) AS of_user
    UNION ALL
    SELECT * FROM (SELECT * FROM masked_activity
                   WHERE CAST($1 AS {guid}) IS NULL AND player_id = $2 AND {start}
                   {order} LIMIT $4 OFFSET $5) AS of_player) AS found
{order};

-- Trades of an account ($1), a player ($2) or both; without either each trade once. Names are the present ones.
-- name: trades, trades_backwards {start: at >= $3|at < $3} {order: ORDER BY at, id|ORDER BY at DESC, id DESC}
SELECT id, trade_id, at, user_id, player_id, target_id, address, items, target_items,
       (SELECT u.name FROM users u WHERE u.id = found.user_id), (SELECT p.name FROM players p WHERE p.id = found.player_id),
       (SELECT p.name FROM players p WHERE p.id = found.target_id)
FROM (SELECT * FROM (SELECT * FROM masked_trades
                     WHERE CAST($1 AS {guid}) IS NULL AND CAST($2 AS {guid}) IS NULL AND player_id < target_id AND {start}
                     {order} LIMIT $4 OFFSET $5) AS of_all
      UNION ALL
      SELECT * FROM (SELECT * FROM masked_trades
                     WHERE user_id = $1 AND CAST($2 AS {guid}) IS NULL AND {start}
                     {order} LIMIT $4 OFFSET $5) AS of_user
      UNION ALL
      SELECT * FROM (SELECT * FROM masked_trades
                     WHERE (CAST($1 AS {guid}) IS NULL OR user_id = $1) AND player_id = $2 AND {start}
                     {order} LIMIT $4 OFFSET $5) AS of_player) AS found
{order};

-- name: item_names
SELECT r.id, r.name
FROM json_each($1) AS given, {each} items r WHERE r.id = CAST(given.value->>'id' AS {guid}) {end_each};

-- name: count_addresses
SELECT COUNT(*) FROM masked_log_addresses WHERE user_id = $1;

-- Read the addresses of an account, the last used first.
-- name: addresses
SELECT address, last_used FROM masked_log_addresses WHERE user_id = $1
ORDER BY last_used DESC, address DESC LIMIT $2 OFFSET $3;

-- Who else used these addresses, as JSON objects of id and name: for each address the $3 accounts that used it last.
-- name: other_users (sqlite)
SELECT given.value->>'address',
       (SELECT json_group_object(named.user_id, named.name)
        FROM (SELECT used.user_id, (SELECT u.name FROM users u WHERE u.id = used.user_id) AS name
              FROM (SELECT l.user_id FROM log_addresses l WHERE l.address = given.value->>'address' AND l.user_id <> $2
                    ORDER BY l.last_used DESC, l.user_id DESC LIMIT $3) AS used) AS named
        WHERE named.name IS NOT NULL)
FROM json_each($1) AS given;

-- name: other_users (postgres)
SELECT given.value->>'address',
       (SELECT json_object_agg(named.user_id, named.name)
        FROM (SELECT used.user_id, (SELECT u.name FROM users u WHERE u.id = used.user_id) AS name
              FROM (SELECT l.user_id FROM log_addresses l WHERE l.address = given.value->>'address' AND l.user_id <> $2
                    ORDER BY l.last_used DESC, l.user_id DESC LIMIT $3) AS used OFFSET 0) AS named
        WHERE named.name IS NOT NULL)
FROM json_each($1) AS given;

-- name: delete_activity_of_user, delete_old_activity {which: user_id = $1|at < $1}
DELETE FROM activity_log WHERE id IN (
    SELECT id FROM activity_log WHERE {which} ORDER BY at, id LIMIT $2) RETURNING user_id, player_id, at;

-- name: delete_activity_naming
DELETE FROM activity_log WHERE id IN (
    SELECT id FROM activity_log WHERE named_id = $1 LIMIT $2) RETURNING user_id, player_id, at;

-- name: delete_trades_of_user, delete_old_trades {which: user_id = $1|at < $1}
DELETE FROM trade_log WHERE id IN (
    SELECT id FROM trade_log WHERE {which} ORDER BY at, id LIMIT $2) RETURNING user_id, player_id, target_id, at;

-- name: delete_addresses_of_user
DELETE FROM log_addresses WHERE (user_id, address) IN (
    SELECT user_id, address FROM log_addresses WHERE user_id = $1 ORDER BY address LIMIT $2) RETURNING 1;

-- name: delete_old_addresses
DELETE FROM log_addresses WHERE (user_id, address) IN (
    SELECT user_id, address FROM log_addresses WHERE last_used < $1 ORDER BY last_used LIMIT $2) RETURNING 1;

-- name: delete_old_addresses (postgres)
DELETE FROM log_addresses WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM log_addresses WHERE last_used < $1 ORDER BY last_used LIMIT $2)) RETURNING 1;

-- Count the entries that are older than a time.
-- name: count_old
SELECT (SELECT COUNT(*) FROM activity_log WHERE at < $1) + (SELECT COUNT(*) FROM trade_log WHERE at < $1);

-- name: activity_of_person
SELECT id, at, player_id, action, peer, address, meta FROM masked_activity
WHERE user_id = $1 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT $4;

-- name: activity_naming_person
SELECT id, at, player_id, action, peer, address, meta FROM masked_activity
WHERE named_id = $1 AND id > $2 ORDER BY id LIMIT $3;

-- name: trades_of_person
SELECT id, trade_id, at, player_id, target_id, address, items, target_items FROM masked_trades
WHERE user_id = $1 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT $4;

-- name: addresses_of_person
SELECT address, last_used FROM masked_log_addresses WHERE user_id = $1 ORDER BY address;
