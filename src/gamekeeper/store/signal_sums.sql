-- name: quantities
SELECT t.item_id, t.quantity FROM item_totals t
WHERE t.item_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: growth
SELECT r.item_id, r.slot, r.grown, r.changes
FROM json_each($1) AS wanted, {each} item_growth r WHERE r.item_id = CAST(value->>'id' AS {guid}) {end_each};

-- name: save_growth
INSERT INTO item_growth (item_id, slot, grown, changes)
SELECT CAST(value->>'item_id' AS {guid}), CAST(value->>'slot' AS {long}), CAST(value->>'grown' AS {long}),
       value->>'changes'
FROM json_each($1) WHERE {true}
ON CONFLICT (item_id, slot) DO UPDATE SET grown = excluded.grown, changes = excluded.changes;

-- name: forget_growth
DELETE FROM item_growth WHERE item_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1)) AND slot < $2;

-- name: gains
SELECT r.player_id, r.item_id, r.slot, r.gained, r.changes
FROM json_each($1) AS wanted,
     {each} player_gains r WHERE r.player_id = CAST(value->>'player_id' AS {guid})
                           AND r.item_id = CAST(value->>'item_id' AS {guid}) {end_each};

-- name: save_gains
INSERT INTO player_gains (player_id, item_id, slot, gained, changes)
SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'item_id' AS {guid}), CAST(value->>'slot' AS {long}),
       CAST(value->>'gained' AS {long}), value->>'changes'
FROM json_each($1) WHERE {true}
ON CONFLICT (player_id, item_id, slot) DO UPDATE SET gained = excluded.gained, changes = excluded.changes;

-- name: forget_gains
DELETE FROM player_gains WHERE slot < $1;

-- name: add_check
INSERT INTO signal_checks (rule, subject, at, player_id) VALUES ($1, $2, {now}, $3)
ON CONFLICT (rule, subject) DO NOTHING;

-- name: has_due_check
SELECT 1 FROM signal_checks WHERE rule = $1 AND at <= {now} - $2 ORDER BY at LIMIT 1;

-- Locked, so that one instance at a time examines them.
-- name: due_checks (sqlite)
SELECT rule, subject, at, player_id FROM signal_checks WHERE rule = $1 AND at <= {now} - $2 ORDER BY at LIMIT $3;

-- name: due_checks (postgres)
SELECT rule, subject, at, player_id FROM signal_checks WHERE rule = $1 AND at <= {now} - $2 ORDER BY at LIMIT $3
FOR UPDATE SKIP LOCKED;

-- name: delete_check
DELETE FROM signal_checks WHERE rule = $1 AND subject = $2;

-- name: bag_owner
SELECT player_id FROM bags WHERE id = $1;

-- name: refused
SELECT minute / 10, CAST(SUM(refused) AS {long}) FROM activity_minutes
WHERE minute >= $1 AND minute < $2 GROUP BY minute / 10 HAVING SUM(refused) > 0;

-- Items of which the totals at the ends of two days do not differ by what was created and destroyed in between.
-- The catalogue of a game bounds the number of items.
-- name: unbalanced
SELECT d.item_id, p.quantity, d.quantity, b.created, b.destroyed
FROM (SELECT t.item_id,
             (SELECT MAX(e.day) FROM item_days e WHERE e.item_id = t.item_id AND e.day < $1) AS before
      FROM item_totals t) AS i
JOIN item_days d ON d.item_id = i.item_id AND d.day = $1
JOIN item_days p ON p.item_id = i.item_id AND p.day = i.before
JOIN (SELECT t.item_id, CAST(COALESCE(SUM(f.created), 0) AS {long}) AS created,
             CAST(COALESCE(SUM(f.destroyed), 0) AS {long}) AS destroyed
      FROM item_totals t LEFT JOIN item_flows f ON f.item_id = t.item_id AND f.day <= $1
       AND f.day > (SELECT MAX(e.day) FROM item_days e WHERE e.item_id = t.item_id AND e.day < $1)
      GROUP BY t.item_id) AS b ON b.item_id = i.item_id
WHERE d.quantity - p.quantity <> b.created - b.destroyed ORDER BY d.item_id LIMIT $2;
