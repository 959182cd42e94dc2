-- Milliseconds until each of the three counts falls below its limit; 0 if it is below.
-- name: waits
SELECT COALESCE((SELECT at + $4 - {now} FROM guesses WHERE account = $1 AND caller = $2 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $5 - 1), 0),
       COALESCE((SELECT at + $4 - {now} FROM guesses WHERE account = $1 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $6 - 1), 0),
       COALESCE((SELECT at + $4 - {now} FROM guesses WHERE caller = $3 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $7 - 1), 0);

-- name: hold (sqlite)
SELECT $1;

-- name: hold (postgres)
SELECT pg_advisory_xact_lock($1);

-- name: insert
INSERT INTO guesses (id, account, caller, at) VALUES ($1, $2, $3, {now});

-- name: delete
DELETE FROM guesses WHERE id = $1;

-- name: delete_of_account
DELETE FROM guesses WHERE account = $1;

-- name: delete_old
DELETE FROM guesses WHERE id IN (SELECT id FROM guesses WHERE at < {now} - $1 ORDER BY at LIMIT $2);

-- name: save
INSERT INTO resets (user_id, code, tries_left, expires_at, mail_id) VALUES ($1, $2, $3, {now} + $4, $5)
ON CONFLICT (user_id) DO UPDATE
SET code = excluded.code, tries_left = excluded.tries_left, expires_at = excluded.expires_at, mail_id = excluded.mail_id;

-- name: live
SELECT code FROM resets WHERE user_id = $1 AND expires_at > {now} AND tries_left > 0;

-- name: current
SELECT code FROM resets WHERE user_id = $1 AND expires_at > {now};

-- name: spend_try
UPDATE resets SET tries_left = tries_left - 1 WHERE user_id = $1 AND tries_left > 0;

-- name: forget
DELETE FROM resets WHERE user_id = $1;

-- name: imported
SELECT id, password FROM users
WHERE substr(password, 1, 9) = 'intersect' AND id >= $1
ORDER BY id LIMIT $2;

-- name: count
SELECT COUNT(*) FROM users WHERE substr(password, 1, 9) = 'intersect';

-- name: replace
UPDATE users SET password = $3 WHERE id = $1 AND password = $2 RETURNING id;
