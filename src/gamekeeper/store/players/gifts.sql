-- Adds gifts of today, and returns the totals. A parallel gift of the same giver and item waits for the end of this one.
-- name: add
INSERT INTO gift_totals (giver_id, item_id, day, quantity)
SELECT CAST(value->>'giver' AS {guid}), CAST(value->>'item' AS {guid}), {now} / 86400000, CAST(value->>'quantity' AS {long})
FROM json_each($1) WHERE {true}
ON CONFLICT (giver_id, item_id, day) DO UPDATE SET quantity = gift_totals.quantity + excluded.quantity
RETURNING giver_id, item_id, quantity, (day + 1) * 86400000;

-- Takes an undone gift off the totals of the day on which it was given.
-- name: give_back
UPDATE gift_totals SET quantity = CASE WHEN quantity > $3 THEN quantity - $3 ELSE 0 END
WHERE item_id = $2 AND day = (SELECT l.at / 86400000 FROM ledger l WHERE l.seq = $1 AND l.kind = 'items_given')
  AND giver_id IN (SELECT l.actor_id FROM ledger l WHERE l.seq = $1 UNION SELECT l.token_id FROM ledger l WHERE l.seq = $1);

-- name: delete_old
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
