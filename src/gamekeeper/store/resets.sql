-- name: save
INSERT INTO resets (user_id, code, tries_left, expires_at) VALUES ($1, $2, $3, {now} + $4)
ON CONFLICT (user_id) DO UPDATE
SET code = excluded.code, tries_left = excluded.tries_left, expires_at = excluded.expires_at;

-- name: live
SELECT code FROM resets WHERE user_id = $1 AND expires_at > {now} AND tries_left > 0;

-- name: current
SELECT code FROM resets WHERE user_id = $1 AND expires_at > {now};

-- name: spend_try
UPDATE resets SET tries_left = tries_left - 1 WHERE user_id = $1 AND tries_left > 0;

-- name: forget
DELETE FROM resets WHERE user_id = $1;

-- name: queue_mail
INSERT INTO mails (id, user_id, kind, queued_at, expires_at) VALUES ($1, $2, 'password_reset', {now}, {now} + $3);

-- name: mails_waiting
SELECT COUNT(*) FROM mails WHERE expires_at > {now};
