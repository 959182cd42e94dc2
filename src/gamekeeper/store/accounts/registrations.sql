-- name: wait
SELECT at + $3 - {now} FROM registrations
WHERE caller_id = $1 AND at > {now} - $3
ORDER BY at DESC LIMIT 1 OFFSET $2 - 1;

-- name: insert
INSERT INTO registrations (caller_id, at, user_id) VALUES ($1, {now}, $2);

-- name: delete_old
DELETE FROM registrations WHERE caller_id = $1 AND at <= {now} - $2;
