-- name: find
SELECT fingerprint, answer FROM masked_keys WHERE account_id = $1 AND key = $2;

-- name: exists
SELECT 1 FROM idempotency_keys WHERE account_id = CAST($1 AS {guid}) AND key = $2;

-- name: insert
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at, player_id, user_id)
VALUES ($1, $2, $3, $4, {now}, $5, $6);

-- name: replace
UPDATE idempotency_keys SET answer = $3, player_id = $4, user_id = $5 WHERE account_id = $1 AND key = $2;

-- name: touch
UPDATE idempotency_keys SET at = at WHERE account_id = $1 AND key = $2;

-- name: delete_old
DELETE FROM idempotency_keys WHERE (account_id, key) IN (
    SELECT account_id, key FROM idempotency_keys WHERE at < $1 ORDER BY at LIMIT $2) RETURNING 1;
