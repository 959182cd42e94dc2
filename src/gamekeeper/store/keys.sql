-- name: find
SELECT fingerprint, answer FROM idempotency_keys WHERE account_id = $1 AND key = $2;

-- name: insert
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at) VALUES ($1, $2, $3, $4, {now});

-- name: touch
UPDATE idempotency_keys SET at = at WHERE account_id = $1 AND key = $2;

-- name: delete_old
DELETE FROM idempotency_keys WHERE (account_id, key) IN (
    SELECT account_id, key FROM idempotency_keys WHERE at < {now} - $1 ORDER BY at LIMIT $2) RETURNING 1;
