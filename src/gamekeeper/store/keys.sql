-- name: find
SELECT fingerprint, answer FROM idempotency_keys WHERE account_id = $1 AND key = $2;

-- name: insert
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at) VALUES ($1, $2, $3, $4, {now});

-- name: touch
UPDATE idempotency_keys SET at = at WHERE account_id = $1 AND key = $2;

-- Answers to the requests that made these changes, if they have one of the words in them: the request is known by its
-- caller and its moment. The casts keep the planner from reading all that the caller ever asked for.
-- name: blank
UPDATE idempotency_keys SET answer = CAST('{}' AS {document})
WHERE (account_id, key) IN (
    SELECT r.account_id, r.key
    FROM (SELECT DISTINCT actor_id, at FROM ledger
          WHERE seq IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($1))
            AND actor_id IS NOT NULL AND actor_id <> $3) AS done,
         {each} idempotency_keys r
         WHERE r.at >= done.at AND r.at < done.at + 10000
           AND CAST(r.account_id AS TEXT) = CAST(done.actor_id AS TEXT)
           AND EXISTS (SELECT 1 FROM json_each($2) AS said
                       WHERE replace(CAST(r.answer AS TEXT), said.value->>'word', '') <> CAST(r.answer AS TEXT))
         {end_each});

-- name: delete_of_account
DELETE FROM idempotency_keys WHERE account_id = $1;

-- name: delete_old
DELETE FROM idempotency_keys WHERE (account_id, key) IN (
    SELECT account_id, key FROM idempotency_keys WHERE at < {now} - $1 ORDER BY at LIMIT $2) RETURNING 1;
