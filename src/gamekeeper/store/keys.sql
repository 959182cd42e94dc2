-- name: find
SELECT fingerprint, answer FROM idempotency_keys WHERE account_id = $1 AND key = $2;

-- name: insert
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at, player_id, user_id)
VALUES ($1, $2, $3, $4, {now}, $5, $6);

-- name: touch
UPDATE idempotency_keys SET at = at WHERE account_id = $1 AND key = $2;

-- But for those of the account itself, which are blanked as a whole.
-- name: blank_of_user
UPDATE idempotency_keys SET answer = CAST('{}' AS {document})
WHERE user_id = $1 AND player_id IS NULL AND account_id <> $1;

-- name: blank_of_players
UPDATE idempotency_keys SET answer = CAST('{}' AS {document})
WHERE account_id <> $2 AND (account_id, key) IN (
    SELECT r.account_id, r.key
    FROM json_each($1) AS wanted,
         {each} idempotency_keys r WHERE r.player_id = CAST(wanted.value->>'id' AS {guid}) {end_each});

-- name: blank_of_account
UPDATE idempotency_keys SET answer = CAST('{}' AS {document}) WHERE account_id = $1;

-- name: delete_old
DELETE FROM idempotency_keys WHERE (account_id, key) IN (
    SELECT account_id, key FROM idempotency_keys WHERE at < $1 ORDER BY at LIMIT $2) RETURNING 1;
