-- A view with the same name is replaced.
-- name: save
INSERT INTO saved_views (id, user_id, list, name, query, shared, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (user_id, list, name) DO UPDATE SET query = excluded.query, shared = excluded.shared;

-- The views of an account, without the one of this list and name.
-- name: count_others
SELECT COUNT(*) FROM saved_views WHERE user_id = $1 AND NOT (list = $2 AND name = $3);

-- The views of an account, and those that others share.
-- name: of_viewer
SELECT * FROM (SELECT id, user_id, name, query, shared FROM saved_views
               WHERE user_id = $1 AND list = $2 ORDER BY name LIMIT $3) AS own
UNION ALL
SELECT * FROM (SELECT id, user_id, name, query, shared FROM saved_views
               WHERE shared AND list = $2 AND user_id <> $1 ORDER BY name, id LIMIT $3) AS others;

-- name: is_shared
SELECT 1 FROM saved_views WHERE id = $1 AND user_id = $2 AND shared;

-- name: rename
UPDATE saved_views SET name = $3 WHERE id = $1 AND user_id = $2;

-- Another view of the same list that has the name $3 already.
-- name: same_name
SELECT 1 FROM saved_views v, saved_views o
WHERE v.id = $1 AND v.user_id = $2 AND o.user_id = $2 AND o.list = v.list AND o.name = $3 AND o.id <> v.id;

-- An own view; $3: also one that another account shares.
-- name: delete
DELETE FROM saved_views WHERE id = $1 AND (user_id = $2 OR (shared AND $3));

-- name: of_person
SELECT list, name, query, shared, created_at FROM saved_views WHERE user_id = $1 ORDER BY list, name;
