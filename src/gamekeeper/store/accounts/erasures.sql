-- ON CONFLICT: a player that was created again under another account may be erased again before its first job is done.
-- name: insert
INSERT INTO erasures (id, user_id, upto, fields)
SELECT CAST(value->>'id' AS {guid}), CAST($2 AS {guid}), CAST($3 AS {long}), CAST($4 AS {json}) FROM json_each($1) WHERE {true}
ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, upto = excluded.upto, fields = excluded.fields;

-- name: waiting
SELECT 1 FROM erasures LIMIT 1;

-- A job that no other instance is working on. The job of an account comes before those of its players and API keys: it
-- looks for all their ids in stored answers.
-- name: claim
SELECT id, upto, seq, key, user_id FROM erasures one
WHERE id = user_id OR NOT EXISTS (SELECT 1 FROM erasures a WHERE a.id = one.user_id) ORDER BY id LIMIT 1 {take_one};

-- Stores what the view masked_ledger shows: the change without personal data.
-- name: blank_changes
UPDATE ledger
SET (before, after, reason) = (SELECT m.before, m.after, m.reason FROM masked_ledger m WHERE m.seq = ledger.seq)
WHERE seq IN (
    SELECT seq FROM (
        SELECT seq FROM (SELECT seq FROM ledger WHERE player_id = $1 AND seq > $2 AND seq <= $3
                         ORDER BY seq LIMIT $4) AS of_player
        UNION ALL
        SELECT seq FROM (SELECT seq FROM ledger WHERE user_id = $1 AND player_id IS NULL AND seq > $2 AND seq <= $3
                         ORDER BY seq LIMIT $4) AS of_user) AS both_kinds
    ORDER BY seq LIMIT $4)
RETURNING seq;

-- Also removes player and account from a blanked answer, so that the next batch does not find it again.
-- name: blank_keys_of_player
UPDATE idempotency_keys SET answer = CAST('{}' AS {document}), player_id = NULL, user_id = NULL
WHERE (account_id, key) IN (SELECT account_id, key FROM idempotency_keys WHERE player_id = $1 LIMIT $2) RETURNING 1;

-- name: blank_keys_of_user
UPDATE idempotency_keys SET answer = CAST('{}' AS {document}), player_id = NULL, user_id = NULL
WHERE (account_id, key) IN (
    SELECT account_id, key FROM idempotency_keys WHERE user_id = $1 AND player_id IS NULL LIMIT $2) RETURNING 1;

-- name: own_keys
SELECT key FROM idempotency_keys WHERE account_id = $1 AND key > $2 ORDER BY key LIMIT $3;

-- name: blank_own_keys
UPDATE idempotency_keys SET answer = CAST('{}' AS {document}) WHERE account_id = $1 AND key > $2 AND key <= $3;

-- The next stored answers of all accounts.
-- name: all_keys
SELECT account_id, key FROM idempotency_keys WHERE (account_id, key) > ($1, $2) ORDER BY account_id, key LIMIT $3;

-- Between two keys: the answers to the erased account $5, and those with its id or one of its players or API keys. Other
-- answers that were stored with the erasure or after it have no name.
-- name: blank_keys
WITH ids AS MATERIALIZED (SELECT CAST(id AS TEXT) AS id FROM erasures WHERE user_id = $5)
UPDATE idempotency_keys SET answer = CAST('{}' AS {document}), player_id = NULL, user_id = NULL
WHERE (account_id, key) > ($1, $2) AND (account_id, key) <= ($3, $4) AND (account_id = $5
  OR at < (SELECT MIN(l.at) FROM ledger l WHERE l.user_id = $5 AND l.seq > $6 AND l.kind = 'user_deleted')
  AND EXISTS (SELECT 1 FROM ids WHERE CAST(answer AS TEXT) LIKE '%' || ids.id || '%'));

-- The reasons of an erasure: its own, and those of its approval.
-- name: reasons
SELECT seq, reason FROM ledger
WHERE user_id = $1 AND kind IN ('user_deleted', 'player_deleted') AND seq > $2 AND reason IS NOT NULL;

-- name: set_reason
UPDATE ledger SET reason = $2 WHERE seq = $1;

-- The approvers' reasons, of approvals of changes of an erased account.
-- name: decision_reasons
SELECT id, decision_reason FROM approvals WHERE user_id = $1 AND decision_reason IS NOT NULL;

-- name: set_decision_reason
UPDATE approvals SET decision_reason = $2 WHERE id = $1;

-- name: set_seq
UPDATE erasures SET seq = $2 WHERE id = $1;

-- name: set_key
UPDATE erasures SET key = $2 WHERE id = $1;

-- name: delete
DELETE FROM erasures WHERE id = $1;

-- name: count_accounts
SELECT COUNT(DISTINCT user_id) FROM erasures;

-- name: count_left
SELECT COUNT(*) FROM (
    SELECT 1 FROM erasures CROSS JOIN {each} ledger r
                  WHERE r.player_id = erasures.id AND r.seq > erasures.seq AND r.seq <= erasures.upto {end_each}
    UNION ALL
    SELECT 1 FROM erasures CROSS JOIN {each} ledger r
                  WHERE r.user_id = erasures.id AND r.player_id IS NULL AND r.seq > erasures.seq
                        AND r.seq <= erasures.upto {end_each}
    LIMIT $1) AS found;

-- Names that the account had, by its own changes.
-- name: account_names
SELECT before->>'Name', after->>'Name' FROM ledger
WHERE user_id = $1 AND player_id IS NULL AND kind IN ('user_registered', 'user_renamed');

-- Names that the next changes of an erased player have. The limit and the order are those of blank_changes.
-- name: next_names
SELECT before->>'Name', after->>'Name' FROM (
    SELECT kind, before, after FROM ledger WHERE player_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4) AS next
WHERE kind IN ('player_created', 'player_changed', 'player_deleted') AND COALESCE(before->>'Name', after->>'Name') <> '';

-- Removes the names $1, in lower case, as moderators and as targets of chat messages. Another account than the erased one
-- ($2) that has such a name now stays named as the moderator of what it did itself.
-- name: blank_named
UPDATE ledger
SET before = CASE WHEN lower(before->>'Moderator') IN (SELECT value->>'name' FROM json_each($1))
                  THEN json_patch(before, json_object('Moderator', NULL)) ELSE before END,
    after = CASE WHEN lower(COALESCE(after->>'Moderator', after->>'Target')) IN (SELECT value->>'name' FROM json_each($1))
                  AND (kind = 'chat_sent' OR lower(after->>'Moderator') <> COALESCE(
                       (SELECT lower(u.name) FROM users u WHERE u.id = ledger.actor_id AND u.id <> $2), ''))
                 THEN json_patch(after, json_object('Moderator', NULL, 'Target', NULL)) ELSE after END
WHERE seq IN (
    SELECT seq FROM ledger WHERE kind IN ({naming})
        AND lower(COALESCE(after->>'Moderator', after->>'Target')) IN (SELECT value->>'name' FROM json_each($1))
    UNION ALL
    SELECT seq FROM ledger WHERE kind IN ({lifting})
        AND lower(before->>'Moderator') IN (SELECT value->>'name' FROM json_each($1)));

-- name: blank_named (postgres)
UPDATE ledger
SET before = CASE WHEN lower(before->>'Moderator') = ANY(ARRAY(SELECT value->>'name' FROM json_each($1)))
                  THEN CAST(CAST(before AS jsonb) - 'Moderator' AS json) ELSE before END,
    after = CASE WHEN lower(COALESCE(after->>'Moderator', after->>'Target')) = ANY(ARRAY(SELECT value->>'name' FROM json_each($1)))
                  AND (kind = 'chat_sent' OR lower(after->>'Moderator') <> COALESCE(
                       (SELECT lower(u.name) FROM users u WHERE u.id = ledger.actor_id AND u.id <> $2), ''))
                 THEN CAST(CAST(after AS jsonb) - 'Moderator' - 'Target' AS json) ELSE after END
WHERE seq = ANY(ARRAY(
    SELECT seq FROM ledger WHERE kind IN ({naming})
        AND lower(COALESCE(after->>'Moderator', after->>'Target')) = ANY(ARRAY(SELECT value->>'name' FROM json_each($1)))
    UNION ALL
    SELECT seq FROM ledger WHERE kind IN ({lifting})
        AND lower(before->>'Moderator') = ANY(ARRAY(SELECT value->>'name' FROM json_each($1)))));

-- name: blank_given
UPDATE bulk_targets SET given = NULL, problem = NULL
WHERE given IS NOT NULL AND lower(given) {any} SELECT value->>'name' FROM json_each($1) {end_any};
