-- name: imported
SELECT id, password FROM users
WHERE substr(password, 1, 9) = 'intersect' AND id >= $1
ORDER BY id LIMIT $2;

-- name: count
SELECT COUNT(*) FROM users WHERE substr(password, 1, 9) = 'intersect';

-- name: replace
UPDATE users SET password = $3 WHERE id = $1 AND password = $2 RETURNING id;
