-- The blocks of all ranked lists and seasons. The buckets in them have statements in holdings.sql and standings.sql.
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
INSERT INTO bucket_blocks (kind, thing_id, quantity, player_id, buckets, entries)
SELECT value->>'kind', CAST(value->>'thing_id' AS {guid}), CAST(value->>'quantity' AS {long}),
       CAST(value->>'player_id' AS {guid}), CAST(value->>'buckets' AS {long}), CAST(value->>'entries' AS {long})
FROM json_each($1) WHERE {true}
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
