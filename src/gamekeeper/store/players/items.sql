-- name: slots_of_player
SELECT place, slot, item_id, quantity, bag_id, buffs FROM slots WHERE player_id = $1 ORDER BY place, slot;

-- The slots of a locked player, each beside the player and an item of the catalogue; one row without a slot if there is none.
-- name: holdings
SELECT p.id, i.stackable, i.max_stack, i.bag_slots, i.id IS NULL AND EXISTS (SELECT 1 FROM items),
       s.place, s.slot, s.item_id, s.quantity, s.bag_id, s.buffs
FROM players p LEFT JOIN items i ON i.id = $2 LEFT JOIN slots s ON s.player_id = p.id
WHERE p.id = COALESCE($1, {locked});

-- name: slots_of_place
SELECT place, slot, item_id, quantity, bag_id, buffs FROM slots WHERE player_id = $1 AND place = $2 ORDER BY slot;

-- The name is a subquery and not a join, so that PostgreSQL looks up each item and never scans the whole catalogue.
-- name: named_slots_of_player
SELECT place, slot, item_id, quantity, bag_id, buffs, (SELECT i.name FROM items i WHERE i.id = slots.item_id)
FROM slots WHERE player_id = $1 ORDER BY place, slot;

-- name: named_slots_of_place
SELECT place, slot, item_id, quantity, bag_id, buffs, (SELECT i.name FROM items i WHERE i.id = slots.item_id)
FROM slots WHERE player_id = $1 AND place = $2 ORDER BY slot;

-- name: bag
SELECT player_id, slot_count FROM bags WHERE id = $1;

-- name: known_bags
SELECT id FROM bags WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: bags_of_player
SELECT id, slot_count FROM bags WHERE player_id = $1 ORDER BY id;

-- name: save_slots
INSERT INTO slots (player_id, place, slot, item_id, quantity, bag_id, buffs)
SELECT CAST(value->>'player_id' AS {guid}), value->>'place', CAST(value->>'slot' AS INTEGER),
       CAST(value->>'item_id' AS {guid}), CAST(value->>'quantity' AS INTEGER),
       CAST(value->>'bag_id' AS {guid}), value->>'buffs'
FROM json_each($1) WHERE true
ON CONFLICT (player_id, place, slot) DO UPDATE
SET item_id = excluded.item_id, quantity = excluded.quantity, bag_id = excluded.bag_id, buffs = excluded.buffs;

-- name: save_slot
INSERT INTO slots (player_id, place, slot, item_id, quantity, bag_id, buffs) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (player_id, place, slot) DO UPDATE
SET item_id = excluded.item_id, quantity = excluded.quantity, bag_id = excluded.bag_id, buffs = excluded.buffs;

-- Insert many slots; the values are in the order of PlayerSlot.
-- name: load_slots
INSERT INTO slots (player_id, place, slot, item_id, quantity, bag_id, buffs) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: clear_slots
DELETE FROM slots
WHERE player_id = $1
  AND (place, slot) IN (SELECT value->>'place', CAST(value->>'slot' AS INTEGER) FROM json_each($2));

-- name: insert_bags
INSERT INTO bags (id, player_id, slot_count)
SELECT CAST(value->>'id' AS {guid}), CAST(value->>'player_id' AS {guid}), CAST(value->>'slot_count' AS INTEGER)
FROM json_each($1);

-- Insert many bags; the values are in the order of PlayerBag.
-- name: load_bags
INSERT INTO bags (id, player_id, slot_count) VALUES ($1, $2, $3);

-- name: resize_bags
UPDATE bags SET slot_count = CAST(sized.value->>'slot_count' AS INTEGER)
FROM json_each($1) AS sized WHERE bags.id = CAST(sized.value->>'id' AS {guid});

-- name: delete_bags
DELETE FROM bags WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: sum_quantities
SELECT item_id, SUM(quantity) FROM slots GROUP BY item_id ORDER BY item_id;

-- name: stray_bags
SELECT b.id, b.player_id, COUNT(s.bag_id) FROM bags b LEFT JOIN slots s ON s.bag_id = b.id
GROUP BY b.id, b.player_id HAVING COUNT(s.bag_id) <> 1 ORDER BY b.id;

-- Find slots in a bag that does not belong to the slot's player.
-- name: orphan_slots
SELECT s.player_id, s.place, s.slot FROM slots s
WHERE s.place NOT IN ('inventory', 'bank')
  AND NOT EXISTS (SELECT 1 FROM bags b WHERE b.player_id = s.player_id AND CAST(b.id AS TEXT) = s.place)
ORDER BY s.player_id, s.place, s.slot;

-- Read the occupied slots of all players between two player ids.
-- name: slots_between
SELECT player_id, place, slot, item_id, quantity, bag_id, buffs FROM slots
WHERE player_id >= $1 AND player_id <= $2 ORDER BY player_id, place, slot;

-- Count occupied slots beyond the sizes configured for inventory and bank; return a row (place, count) for each.
-- name: count_slots_beyond
SELECT place, COUNT(*) FROM slots
WHERE (place = 'inventory' AND slot >= $1) OR (place = 'bank' AND slot >= $2)
GROUP BY place ORDER BY place;

-- Adds gifts of today, and returns the totals. A parallel gift of the same giver and item waits for the end of this one.
-- name: add_gifts
INSERT INTO gift_totals (giver_id, item_id, day, quantity)
SELECT CAST(value->>'giver' AS {guid}), CAST(value->>'item' AS {guid}), {now} / 86400000, CAST(value->>'quantity' AS {long})
FROM json_each($1) WHERE {true}
ON CONFLICT (giver_id, item_id, day) DO UPDATE SET quantity = gift_totals.quantity + excluded.quantity
RETURNING giver_id, item_id, quantity, (day + 1) * 86400000;

-- Takes an undone gift off the totals of the day on which it was given.
-- name: give_back_gifts
UPDATE gift_totals SET quantity = CASE WHEN quantity > $3 THEN quantity - $3 ELSE 0 END
WHERE item_id = $2 AND day = (SELECT l.at / 86400000 FROM ledger l WHERE l.seq = $1 AND l.kind = 'items_given')
  AND giver_id IN (SELECT l.actor_id FROM ledger l WHERE l.seq = $1 UNION SELECT l.token_id FROM ledger l WHERE l.seq = $1);

-- name: delete_old_gifts
DELETE FROM gift_totals WHERE day < CAST($1 AS {long}) / 86400000;

-- Quotas of the roles by which an account may give items; a role without quotas has one row of nulls.
-- name: quotas_of_user
SELECT r.role, q.item_id, q.most
FROM (SELECT h.role FROM user_roles h WHERE h.user_id = $1
      UNION ALL SELECT 'api' FROM users u WHERE u.id = $1 AND u.api) AS r
LEFT JOIN role_quotas q ON q.role = r.role
WHERE r.role = 'admin' OR EXISTS (SELECT 1 FROM role_permissions p WHERE p.role = r.role AND p.permission = 'items.give');

-- name: quotas_of_role
SELECT role, item_id, most FROM role_quotas WHERE role = $1;
