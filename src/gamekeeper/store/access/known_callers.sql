-- name: has
SELECT 1 FROM known_callers WHERE user_id = $1 AND caller = $2 AND at > {now} - $3;

-- Inserts nothing if the account was deleted meanwhile, or if only its password was right ($3) and it has a second factor.
-- name: save
INSERT INTO known_callers (user_id, caller, at) SELECT id, $2, {now} FROM users
WHERE id = $1 AND ($3 OR NOT EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = $1))
ON CONFLICT (user_id, caller) DO UPDATE SET at = excluded.at WHERE known_callers.at < excluded.at - 3600000;

-- name: forget
DELETE FROM known_callers WHERE user_id = $1;

-- name: delete_old
DELETE FROM known_callers
WHERE (user_id, caller) IN (SELECT user_id, caller FROM known_callers WHERE at < $1 ORDER BY at LIMIT $2);
