-- name: count
SELECT COUNT(*) FROM server_variables;

-- name: page
SELECT id, name, type, text_id, folder, value, created_at FROM server_variables ORDER BY id LIMIT $1 OFFSET $2;

-- name: variable
SELECT id, name, type, text_id, folder, value, created_at FROM server_variables WHERE id = $1;

-- name: lock
SELECT id, name, type, text_id, folder, value, created_at FROM server_variables WHERE id = $1 {for_update};

-- name: set_value
UPDATE server_variables SET value = $2 WHERE id = $1;

-- name: load
INSERT INTO server_variables (id, name, type, text_id, folder, value, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: known
SELECT id FROM server_variables WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));
