-- Given as nested objects: kind, thing, player.
-- name: held (sqlite)
SELECT r.player_id, r.kind, r.thing_id, r.quantity
FROM json_each($1) AS wanted, json_each(wanted.value) AS inner_level, json_each(inner_level.value) AS given
CROSS JOIN holdings r WHERE r.player_id = given.key AND r.kind = wanted.key AND r.thing_id = inner_level.key;

-- The kind is compared as an expression, so that the rows are found by their player. Without statistics the planner may
-- choose holdings_by_quantity, and then walks through all quantities of an item for each player.
-- name: held (postgres)
SELECT r.player_id, r.kind, r.thing_id, r.quantity
FROM json_each($1) AS wanted, json_each(wanted.value) AS inner_level, json_each(inner_level.value) AS given,
     LATERAL (SELECT h.* FROM holdings h
              WHERE h.player_id = CAST(given.key AS uuid) AND h.kind || '' = wanted.key
                AND h.thing_id = CAST(inner_level.key AS uuid) OFFSET 0) AS r;

-- name: held_between
SELECT player_id, kind, thing_id, quantity FROM holdings WHERE player_id > $1 AND player_id <= $2;

-- Given as nested objects: kind, thing, player, with the quantity, or what is added to it. The new ones are returned.
-- name: save, add {quantity: excluded.quantity|holdings.quantity + excluded.quantity}
--   {new: |RETURNING player_id, kind, thing_id, quantity}
INSERT INTO holdings (player_id, kind, thing_id, quantity)
SELECT CAST(given.key AS {guid}), wanted.key, CAST(inner_level.key AS {guid}), CAST(CAST(given.value AS TEXT) AS {long})
FROM json_each($1) AS wanted, json_each(wanted.value) AS inner_level, json_each(inner_level.value) AS given WHERE {true}
ON CONFLICT (player_id, kind, thing_id) DO UPDATE SET quantity = {quantity} {new};

-- name: delete (sqlite)
DELETE FROM holdings WHERE (player_id, kind, thing_id) IN (
    SELECT value->>'player_id', value->>'kind', value->>'thing_id' FROM json_each($1));

-- By the places of the rows, which only the holder of the economy's lock changes: a join may scan the whole table. The
-- kind is an expression for the same reason as above.
-- name: delete (postgres)
DELETE FROM holdings WHERE ctid = ANY (ARRAY(
    SELECT r.place
    FROM json_each($1) AS given,
         LATERAL (SELECT h.ctid AS place FROM holdings h
                  WHERE h.player_id = CAST(given.value->>'player_id' AS uuid) AND h.kind || '' = given.value->>'kind'
                    AND h.thing_id = CAST(given.value->>'thing_id' AS uuid) OFFSET 0) AS r));

-- name: players_after
SELECT id FROM players WHERE id > $1 ORDER BY id LIMIT $2;

-- name: slot_at, holding_at {table: slots|holdings}
SELECT player_id FROM {table} WHERE player_id > $1 ORDER BY player_id LIMIT 1 OFFSET $2;

-- name: items_between
SELECT player_id, item_id, CAST(SUM(quantity) AS {long}) FROM slots
WHERE player_id > $1 AND player_id <= $2 GROUP BY player_id, item_id;

-- name: variables_between
SELECT player_id, variable_id, value FROM player_variables
WHERE player_id > $1 AND player_id <= $2
  AND variable_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($3));

-- name: lists
SELECT kind, thing_id, quantity, player_id, built, wanted_at FROM ranked_lists ORDER BY kind, thing_id;

-- name: list
SELECT kind, thing_id, quantity, player_id, built, wanted_at FROM ranked_lists WHERE kind = $1 AND thing_id = $2;

-- name: want_list
INSERT INTO ranked_lists (kind, thing_id, quantity, player_id, built, wanted_at) VALUES ($1, $2, $3, $4, {false}, $5)
ON CONFLICT (kind, thing_id) DO UPDATE SET wanted_at = excluded.wanted_at;

-- name: move_list
UPDATE ranked_lists SET quantity = $3, player_id = $4, built = $5 WHERE kind = $1 AND thing_id = $2;

-- name: reset_lists
UPDATE ranked_lists SET quantity = $1, player_id = $2, built = {false};

-- Buckets of a list that is to be counted again, a bounded number of them.
-- name: delete_some_buckets
DELETE FROM ranked_buckets WHERE (kind, thing_id, quantity, player_id) IN (
    SELECT kind, thing_id, quantity, player_id FROM ranked_buckets WHERE kind = $1 AND thing_id = $2
    ORDER BY quantity, player_id LIMIT $3) RETURNING 1;

-- name: delete_list
DELETE FROM ranked_lists WHERE kind = $1 AND thing_id = $2;

-- name: delete_buckets
DELETE FROM ranked_buckets WHERE kind = $1 AND thing_id = $2;

-- name: count_from
SELECT COUNT(*) FROM (SELECT 1 FROM holdings WHERE kind = $1 AND thing_id = $2 AND (quantity, player_id) >= ($3, $4)
                      LIMIT $5) AS found;

-- name: sums
SELECT thing_id, CAST(SUM(quantity) AS {long}), COUNT(*) FROM holdings WHERE kind = 'item' GROUP BY thing_id;

-- name: list_sums
SELECT kind, thing_id, COUNT(*) FROM holdings GROUP BY kind, thing_id;

-- name: bucket_sums
SELECT b.kind, b.thing_id, CAST(SUM(b.entries) AS {long}) FROM ranked_buckets b
JOIN ranked_lists l ON l.kind = b.kind AND l.thing_id = b.thing_id AND l.built GROUP BY b.kind, b.thing_id;
