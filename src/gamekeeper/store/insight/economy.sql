-- A new economy starts after the trimmed part of the audit log, of which only the newest changes of each player are left.
-- name: begin
INSERT INTO economy (one, seq, at, since, swept, variables, recount)
SELECT 1, e.trimmed, 0,
       COALESCE((SELECT l.at FROM ledger l WHERE l.seq > e.trimmed ORDER BY l.seq LIMIT 1), {now}), CAST($1 AS {guid}), '[]', {false}
FROM epoch e WHERE {true}
ON CONFLICT (one) DO NOTHING;

-- name: state
SELECT seq, at, since, swept, variables, recount FROM economy;

-- No row: another instance counts just now.
-- name: lock
SELECT seq, at, since, swept, variables, recount FROM economy {skip_locked};

-- name: wait_for_lock
SELECT seq, at, since, swept, variables, recount FROM economy {for_update};

-- name: set_state
UPDATE economy SET seq = $1, at = $2, swept = $3, variables = $4, recount = $5;

-- Changes that may move items or variables. What a game publishes may have fields like those of a slot, and a trim has the
-- sums of changes that are counted already: so both come without their sides.
-- name: changes
SELECT l.seq, l.at, l.kind, l.actor_id, l.token_id, EXISTS (SELECT 1 FROM api_keys k WHERE k.id = l.token_id), l.over_link,
       l.player_id, CASE WHEN l.kind NOT IN ('catalogue_put', 'ledger_trimmed') THEN l.before END,
       CASE WHEN l.kind NOT IN ('catalogue_put', 'ledger_trimmed') THEN l.after END, l.undoes, l.request_id
FROM masked_ledger l WHERE l.seq > $1 AND l.seq <= $2 ORDER BY l.seq LIMIT $3;

-- Changes of some players, as above.
-- name: changes_of
SELECT r.seq, r.at, r.kind, r.actor_id, r.token_id, EXISTS (SELECT 1 FROM api_keys k WHERE k.id = r.token_id), r.over_link,
       r.player_id, r.before, r.after, r.undoes, r.request_id
FROM json_each($1) AS wanted, {each} masked_ledger r WHERE r.player_id = CAST(value->>'id' AS {guid}) AND r.seq >= $2 AND r.seq <= $3
                              AND r.kind NOT IN ('catalogue_put', 'ledger_trimmed') {end_each} LIMIT $4;

-- name: add_flows
INSERT INTO item_flows {rows: item_id guid, day long, source text, created long, destroyed long}
ON CONFLICT (item_id, day, source) DO UPDATE
SET created = item_flows.created + excluded.created, destroyed = item_flows.destroyed + excluded.destroyed;

-- name: add_gifts
INSERT INTO item_gifts {rows: day long, giver_id guid, item_id guid, source text, given long, taken long}
ON CONFLICT (day, giver_id, item_id) DO UPDATE
SET given = item_gifts.given + excluded.given, taken = item_gifts.taken + excluded.taken;

-- name: add_totals
INSERT INTO item_totals {rows: item_id guid, quantity long, holders long}
ON CONFLICT (item_id) DO UPDATE
SET quantity = item_totals.quantity + excluded.quantity, holders = item_totals.holders + excluded.holders;

-- part: replace_day
ON CONFLICT (item_id, day) DO UPDATE SET quantity = excluded.quantity, holders = excluded.holders;

-- name: save_days
INSERT INTO item_days (item_id, day, quantity, holders)
SELECT t.item_id, CAST($1 AS {long}), t.quantity, t.holders
FROM item_totals t WHERE t.item_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($2))
{replace_day};

-- Totals that are not stored for a day stay unknown: the last day before it may lack changes of this day.
-- name: add_to_day
INSERT INTO item_days (item_id, day, quantity, holders)
SELECT r.item_id, CAST($1 AS {long}), r.quantity + CAST(value->>'quantity' AS {long}), r.holders + CAST(value->>'holders' AS {long})
FROM json_each($2) AS given, {each} item_days r
     WHERE r.item_id = CAST(value->>'item_id' AS {guid})
       AND r.day = $1 {end_each}
{replace_day};

-- name: correct_days
INSERT INTO item_days (item_id, day, quantity, holders)
SELECT r.item_id, r.day, CAST(value->>'quantity' AS {long}), CAST(value->>'holders' AS {long})
FROM json_each($1) AS given, {each} item_days r
     WHERE r.item_id = CAST(value->>'item_id' AS {guid})
       AND r.day = CAST(value->>'day' AS {long})
       AND r.quantity = CAST(value->>'read_quantity' AS {long}) AND r.holders = CAST(value->>'read_holders' AS {long}) {end_each}
{replace_day}
RETURNING day;

-- name: delete_days
DELETE FROM item_days
WHERE item_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1)) AND day >= $2 AND day < $3;

-- name: save_all_days
INSERT INTO item_days (item_id, day, quantity, holders)
SELECT t.item_id, CAST($1 AS {long}), t.quantity, t.holders FROM item_totals t WHERE {true}
{replace_day};

-- The catalogue of a game bounds the number of items. $3: 1 sorts by quantity, 2 by holders, a negative number by the
-- largest first, and 0 by name.
-- name: items
SELECT t.item_id, i.name, t.quantity, t.holders
FROM item_totals t LEFT JOIN items i ON i.id = t.item_id
ORDER BY CASE CAST($3 AS {long})
             WHEN 1 THEN t.quantity WHEN -1 THEN -t.quantity WHEN 2 THEN t.holders WHEN -2 THEN -t.holders END,
         i.name IS NULL, i.name, t.item_id LIMIT $1 OFFSET $2;

-- name: items_down
SELECT t.item_id, i.name, t.quantity, t.holders
FROM item_totals t LEFT JOIN items i ON i.id = t.item_id
ORDER BY i.name IS NULL DESC, i.name DESC, t.item_id DESC LIMIT $1 OFFSET $2;

-- name: count_items
SELECT COUNT(*) FROM item_totals;

-- name: item
SELECT g.id, i.name, COALESCE(t.quantity, 0), COALESCE(t.holders, 0)
FROM (SELECT CAST($1 AS {guid}) AS id) AS g
LEFT JOIN items i ON i.id = g.id LEFT JOIN item_totals t ON t.item_id = g.id
WHERE i.id IS NOT NULL OR t.item_id IS NOT NULL;

-- name: flows_of_items
SELECT f.item_id, f.source, CAST(SUM(f.created) AS {long}), CAST(SUM(f.destroyed) AS {long})
FROM json_each($1) AS given JOIN item_flows f ON f.item_id = CAST(given.value->>'id' AS {guid})
WHERE f.day >= $2 AND f.day <= $3 GROUP BY f.item_id, f.source;

-- name: flows_of_item
SELECT day, source, created, destroyed FROM item_flows
WHERE item_id = $1 AND day >= $2 AND day <= $3 ORDER BY day, source;

-- The days of a range, the last day before it, and the next day after it.
-- name: days_of_item
SELECT day, quantity, holders FROM item_days
WHERE item_id = $1
  AND day >= COALESCE((SELECT MAX(e.day) FROM item_days e WHERE e.item_id = $1 AND e.day <= $2), $2)
  AND day <= COALESCE((SELECT MIN(e.day) FROM item_days e WHERE e.item_id = $1 AND e.day > $3 AND e.day <= $4), $3)
ORDER BY day;

-- Gifts of all items and givers, of one item, of one giver, or of both ($5, or $5 and $6).
-- name: gifts, gifts_of_item, gifts_of_giver, gifts_of_item_and_giver
--   {wanted: |AND g.item_id = $5|AND g.giver_id = $5|AND g.item_id = $5 AND g.giver_id = $6}
SELECT g.giver_id, g.source, g.item_id, CAST(SUM(g.given) AS {long}) AS given, CAST(SUM(g.taken) AS {long}) AS taken
FROM item_gifts g WHERE g.day >= $1 AND g.day <= $2 {wanted} GROUP BY g.giver_id, g.source, g.item_id
ORDER BY given DESC, taken DESC, g.giver_id, g.item_id, g.source LIMIT $3 OFFSET $4;

-- name: count_gifts, count_gifts_of_item, count_gifts_of_giver, count_gifts_of_item_and_giver
--   {wanted: |AND g.item_id = $3|AND g.giver_id = $3|AND g.item_id = $3 AND g.giver_id = $4}
SELECT COUNT(*) FROM (SELECT 1 FROM item_gifts g WHERE g.day >= $1 AND g.day <= $2 {wanted}
                      GROUP BY g.giver_id, g.source, g.item_id) AS found;

-- name: givers
SELECT g.giver_id, COUNT(DISTINCT g.item_id), CAST(SUM(g.given) AS {long}) AS given, CAST(SUM(g.taken) AS {long}) AS taken
FROM item_gifts g WHERE g.day >= $1 AND g.day <= $2
GROUP BY g.giver_id ORDER BY given DESC, taken DESC, g.giver_id LIMIT $3 OFFSET $4;

-- name: count_givers
SELECT COUNT(DISTINCT g.giver_id) FROM item_gifts g WHERE g.day >= $1 AND g.day <= $2;

-- name: sum_of_giver
SELECT CAST($1 AS {guid}), COUNT(DISTINCT g.item_id), CAST(COALESCE(SUM(g.given), 0) AS {long}), CAST(COALESCE(SUM(g.taken), 0) AS {long})
FROM item_gifts g WHERE g.giver_id = $1 AND g.day >= $2 AND g.day <= $3;

-- Subqueries and not joins, so that PostgreSQL looks up each giver.
-- name: giver_names
SELECT g.id, COALESCE((SELECT u.name FROM users u WHERE u.id = g.id), (SELECT k.name FROM api_keys k WHERE k.id = g.id)),
       EXISTS (SELECT 1 FROM api_keys k WHERE k.id = g.id),
       (SELECT u.name FROM users u WHERE u.id = (SELECT k.user_id FROM api_keys k WHERE k.id = g.id))
FROM (SELECT CAST(value->>'id' AS {guid}) AS id FROM json_each($1)) AS g;

-- name: item_names
SELECT i.id, i.name FROM (SELECT CAST(value->>'id' AS {guid}) AS id FROM json_each($1)) AS g JOIN items i ON i.id = g.id;

-- name: totals
SELECT item_id, quantity, holders FROM item_totals;

-- For the doctor, which reads everything.
-- name: flow_items
SELECT item_id FROM item_flows UNION SELECT item_id FROM item_days ORDER BY 1;

-- name: flows_between
SELECT r.item_id, r.day, r.source, r.created, r.destroyed
FROM json_each($1) AS wanted, {each} item_flows r WHERE r.item_id = CAST(value->>'id' AS {guid}) AND r.day >= $2 AND r.day < $3 {end_each};

-- name: gifts_between
SELECT day, giver_id, item_id, source, given, taken FROM item_gifts WHERE day >= $1 AND day < $2;

-- name: key_givers
SELECT DISTINCT giver_id FROM item_gifts WHERE source = 'key';

-- name: all_days
SELECT day, quantity, holders FROM item_days WHERE item_id = $1 ORDER BY day;

-- name: changes_by_player
SELECT l.seq, l.at, l.kind, l.actor_id, l.token_id, {false}, l.over_link, l.player_id, l.before, l.after, l.undoes, l.request_id
FROM masked_ledger l
WHERE l.player_id IS NOT NULL AND (l.player_id, l.seq) > ($1, $2) AND l.seq <= $3 AND l.at >= $4
ORDER BY l.player_id, l.seq LIMIT $5;

-- name: clear_totals
UPDATE item_totals SET quantity = 0, holders = 0;
