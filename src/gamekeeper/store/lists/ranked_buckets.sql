-- The buckets of lists of holders, and of seasons. Their rows are in the tables `holdings` and `standings`.
-- name: key_at, key_at_of_season {rows: holdings|standings} {value: quantity|value}
--   {list: kind = $5 AND thing_id = $4|season_id = $4 AND listed = true}
SELECT {value}, player_id FROM {rows} WHERE {list} AND ({value}, player_id) >= ($1, $2)
ORDER BY {value}, player_id LIMIT 1 OFFSET $3;

-- Names are looked up outside: PostgreSQL would look up those of skipped rows too.
-- name: page, page_of_season {rows: holdings|standings} {value: quantity|value}
--   {list: kind = $6 AND thing_id = $5|season_id = $5 AND listed = true}
SELECT h.player_id, (SELECT p.name FROM players p WHERE p.id = h.player_id), h.{value}
FROM (SELECT player_id, {value} FROM {rows} WHERE {list} AND ({value}, player_id) < ($1, $2)
      ORDER BY {value} DESC, player_id DESC LIMIT $3 OFFSET $4) AS h;

-- name: page_up, page_up_of_season {rows: holdings|standings} {value: quantity|value}
--   {list: kind = $6 AND thing_id = $5|season_id = $5 AND listed = true}
SELECT h.player_id, (SELECT p.name FROM players p WHERE p.id = h.player_id), h.{value}
FROM (SELECT player_id, {value} FROM {rows} WHERE {list} AND ({value}, player_id) >= ($1, $2)
      ORDER BY {value}, player_id LIMIT $3 OFFSET $4) AS h;

-- The bucket of each key: the last one that starts at or before it.
-- name: find_buckets, find_buckets_of_season {buckets: ranked_buckets|standing_buckets}
--   {list: b.kind = g.kind AND b.thing_id = g.thing_id|b.season_id = g.thing_id}
SELECT CAST(g.place AS INTEGER),
       (SELECT b.quantity FROM {buckets} b WHERE {list} AND (b.quantity, b.player_id) <= (g.quantity, g.player_id)
        ORDER BY b.quantity DESC, b.player_id DESC LIMIT 1),
       (SELECT b.player_id FROM {buckets} b WHERE {list} AND (b.quantity, b.player_id) <= (g.quantity, g.player_id)
        ORDER BY b.quantity DESC, b.player_id DESC LIMIT 1),
       (SELECT b.entries FROM {buckets} b WHERE {list} AND (b.quantity, b.player_id) <= (g.quantity, g.player_id)
        ORDER BY b.quantity DESC, b.player_id DESC LIMIT 1)
FROM (SELECT value->>'place' AS place, value->>'kind' AS kind, CAST(value->>'thing_id' AS {guid}) AS thing_id,
             CAST(value->>'quantity' AS {long}) AS quantity, CAST(value->>'player_id' AS {guid}) AS player_id
      FROM json_each($1)) AS g;

-- The buckets from a first key on.
-- name: buckets_from, buckets_from_of_season {buckets: ranked_buckets|standing_buckets}
--   {list: kind = $5 AND thing_id = $4|season_id = $4}
SELECT quantity, player_id, entries FROM {buckets} WHERE {list} AND (quantity, player_id) >= ($1, $2)
ORDER BY quantity, player_id LIMIT $3;

-- The nearest bucket that starts before a key, or one further below.
-- name: bucket_below, bucket_below_of_season {buckets: ranked_buckets|standing_buckets}
--   {list: kind = $5 AND thing_id = $4|season_id = $4}
SELECT quantity, player_id, entries FROM {buckets} WHERE {list} AND (quantity, player_id) < ($1, $2)
ORDER BY quantity DESC, player_id DESC LIMIT 1 OFFSET $3;

-- Numbers of the buckets that start between two keys, from the top, as one JSON list: rows would take longer.
-- name: entries_between, entries_between_of_season (sqlite) {buckets: ranked_buckets|standing_buckets}
--   {list: kind = $6 AND thing_id = $5|season_id = $5}
SELECT json_group_array(entries) FROM (
    SELECT entries FROM {buckets} WHERE {list} AND (quantity, player_id) >= ($1, $2) AND (quantity, player_id) < ($3, $4)
    ORDER BY quantity DESC, player_id DESC);

-- name: entries_between, entries_between_of_season (postgres) {buckets: ranked_buckets|standing_buckets}
--   {list: kind = $6 AND thing_id = $5|season_id = $5}
SELECT COALESCE(json_agg(entries ORDER BY quantity DESC, player_id DESC), '[]')
FROM {buckets} WHERE {list} AND (quantity, player_id) >= ($1, $2) AND (quantity, player_id) < ($3, $4);

-- name: save_buckets, save_buckets_of_season {buckets: ranked_buckets|standing_buckets}
--   {list: kind, thing_id|season_id} {kind: value->>'kind',|}
INSERT INTO {buckets} ({list}, quantity, player_id, entries)
SELECT {kind} CAST(value->>'thing_id' AS {guid}), CAST(value->>'quantity' AS {long}),
       CAST(value->>'player_id' AS {guid}), CAST(value->>'entries' AS {long})
FROM json_each($1) WHERE {true}
ON CONFLICT ({list}, quantity, player_id) DO UPDATE SET entries = excluded.entries;

-- name: delete_bucket, delete_bucket_of_season {buckets: ranked_buckets|standing_buckets}
--   {list: kind = $4 AND thing_id = $3|season_id = $3}
DELETE FROM {buckets} WHERE {list} AND quantity = $1 AND player_id = $2;

-- The blocks of all ranked lists and seasons.
-- name: blocks
SELECT quantity, player_id, buckets, entries FROM bucket_blocks WHERE kind = $1 AND thing_id = $2
ORDER BY quantity, player_id;

-- Numbers of all blocks of a list from the top, as one JSON list: rows would take longer.
-- name: block_entries (sqlite)
SELECT json_group_array(entries) FROM (
    SELECT entries FROM bucket_blocks WHERE kind = $1 AND thing_id = $2 ORDER BY quantity DESC, player_id DESC);

-- name: block_entries (postgres)
SELECT COALESCE(json_agg(entries ORDER BY quantity DESC, player_id DESC), '[]')
FROM bucket_blocks WHERE kind = $1 AND thing_id = $2;

-- name: block_starts
SELECT quantity, player_id FROM bucket_blocks WHERE kind = $1 AND thing_id = $2
ORDER BY quantity DESC, player_id DESC LIMIT $3 OFFSET $4;

-- name: block_above
SELECT quantity, player_id FROM bucket_blocks WHERE kind = $1 AND thing_id = $2 AND (quantity, player_id) > ($3, $4)
ORDER BY quantity, player_id LIMIT 1;

-- name: entries_above_block
SELECT CAST(COALESCE(SUM(entries), 0) AS {long}) FROM bucket_blocks
WHERE kind = $1 AND thing_id = $2 AND (quantity, player_id) > ($3, $4);

-- name: save_blocks
INSERT INTO bucket_blocks {rows: kind text, thing_id guid, quantity long, player_id guid, buckets long, entries long}
ON CONFLICT (kind, thing_id, quantity, player_id) DO UPDATE SET buckets = excluded.buckets, entries = excluded.entries;

-- name: delete_block
DELETE FROM bucket_blocks WHERE kind = $1 AND thing_id = $2 AND quantity = $3 AND player_id = $4;

-- name: delete_blocks
DELETE FROM bucket_blocks WHERE kind = $1 AND thing_id = $2;

-- Blocks whose numbers are not those of their buckets, by list, except lists that are being counted. Each bucket belongs
-- to the last block that starts at or before it; block 0 is none.
-- name: wrong_blocks
SELECT kind, thing_id, SUM(wrong) FROM (
    SELECT kind, thing_id, 1 AS wrong FROM (
        SELECT kind, thing_id, buckets, entries, SUM(is_block) OVER (
                   PARTITION BY kind, thing_id ORDER BY quantity, player_id, is_block DESC) AS block
        FROM (SELECT kind, thing_id, quantity, player_id, 1 AS is_block, buckets, entries FROM bucket_blocks
              UNION ALL
              SELECT kind, thing_id, quantity, player_id, 0, -1, -entries FROM ranked_buckets
              UNION ALL
              SELECT 'season', season_id, quantity, player_id, 0, -1, -entries FROM standing_buckets) AS both_kinds
        ) AS numbered
    GROUP BY kind, thing_id, block HAVING block = 0 OR SUM(buckets) <> 0 OR SUM(entries) <> 0
    UNION ALL
    SELECT kind, thing_id, 1 FROM bucket_blocks b
    WHERE NOT EXISTS (SELECT 1 FROM ranked_buckets r WHERE r.kind = b.kind AND r.thing_id = b.thing_id
                      AND r.quantity = b.quantity AND r.player_id = b.player_id)
      AND NOT EXISTS (SELECT 1 FROM standing_buckets r WHERE b.kind = 'season' AND r.season_id = b.thing_id
                      AND r.quantity = b.quantity AND r.player_id = b.player_id)) AS found
WHERE NOT EXISTS (SELECT 1 FROM ranked_lists l WHERE l.kind = found.kind AND l.thing_id = found.thing_id AND NOT l.built)
GROUP BY kind, thing_id ORDER BY kind, thing_id;

-- name: clear_blocks
DELETE FROM bucket_blocks;

-- All buckets, added up again: blocks of 64 buckets each, as `game/lists/ranked_lists.py` makes them.
-- name: build_blocks
INSERT INTO bucket_blocks (kind, thing_id, quantity, player_id, buckets, entries)
SELECT kind, thing_id, quantity, player_id, buckets, entries FROM (
    SELECT kind, thing_id, quantity, player_id, number, COUNT(*) OVER block AS buckets,
           CAST(SUM(entries) OVER block AS {long}) AS entries
    FROM (SELECT kind, thing_id, quantity, player_id, entries,
                 ROW_NUMBER() OVER (PARTITION BY kind, thing_id ORDER BY quantity, player_id) - 1 AS number
          FROM (SELECT kind, thing_id, quantity, player_id, entries FROM ranked_buckets
                UNION ALL SELECT 'season', season_id, quantity, player_id, entries FROM standing_buckets) AS buckets
         ) AS numbered
    WINDOW block AS (PARTITION BY kind, thing_id, number / 64)) AS added
WHERE number % 64 = 0;
