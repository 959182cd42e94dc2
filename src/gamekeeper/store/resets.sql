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
