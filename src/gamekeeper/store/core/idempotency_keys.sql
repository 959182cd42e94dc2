-- Until the job of an erasure is done, its ids mark the answers about others that name the erased account, see
-- erasures.blank_keys.
-- name: find
SELECT k.fingerprint, CASE WHEN EXISTS (
    SELECT 1 FROM erasures e WHERE CAST(k.answer AS TEXT) LIKE '%' || CAST(e.id AS TEXT) || '%' AND k.at < (
        SELECT MIN(l.at) FROM ledger l WHERE l.user_id = e.user_id AND l.seq > e.upto AND l.kind = 'user_deleted'))
    THEN CAST('{}' AS {document}) ELSE k.answer END
FROM masked_keys k WHERE k.account_id = $1 AND k.key = $2;

-- name: exists
SELECT 1 FROM idempotency_keys WHERE account_id = CAST($1 AS {guid}) AND key = $2;

-- name: insert
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at, player_id, user_id)
VALUES ($1, $2, $3, $4, {now}, $5, $6);

-- Replaces the marker of a held change by its answer, which is stored as long as any other from now on.
-- name: replace
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at, player_id, user_id)
VALUES ($1, $2, $3, $4, {now}, $5, $6)
ON CONFLICT (account_id, key) DO UPDATE SET answer = excluded.answer, at = excluded.at, player_id = excluded.player_id,
                                            user_id = excluded.user_id;

-- name: touch
UPDATE idempotency_keys SET at = at WHERE account_id = $1 AND key = $2;

-- name: delete_old
DELETE FROM idempotency_keys WHERE (account_id, key) IN (
    SELECT account_id, key FROM idempotency_keys WHERE at < $1 ORDER BY at LIMIT $2) RETURNING 1;
