-- name: insert
INSERT INTO approvals (id, state, rule, requested_at, expires_at, actor_id, token_id, scope_id, key, method, path, query,
                       content_type, body, reason, state_fingerprint, preview, player_id, user_id, epoch)
VALUES ($1, 'waiting', $2, {now}, {now} + $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, CAST($15 AS {json}), $16, $17,
        (SELECT e.id FROM epoch e WHERE e.one = 1));

-- name: find
SELECT a.id, CASE WHEN a.state = 'waiting' AND a.expires_at <= {now} THEN 'expired' ELSE a.state END, a.rule, a.requested_at,
       a.expires_at, a.actor_id, (SELECT u.name FROM users u WHERE u.id = a.actor_id), a.token_id, a.scope_id, a.key,
       a.method, a.path, a.query, a.content_type, a.body, a.reason, a.state_fingerprint, a.preview, a.decided_at,
       a.decided_by, (SELECT u.name FROM users u WHERE u.id = a.decided_by), a.decision_reason,
       (SELECT k.name FROM api_keys k WHERE k.id = a.token_id)
FROM approvals a WHERE a.id = $1;

-- The player and the account that a held change is about.
-- name: subject
SELECT player_id, user_id FROM approvals WHERE id = $1;

-- Approvals before the cursor ($1 time, $2 id), newest first: of one state, or all. Unless $5, without their previews,
-- and without the bodies of changes of players and accounts: a list shows something of the body for invitations only.
-- name: page
SELECT r.id, CASE WHEN r.state = 'waiting' AND r.expires_at <= {now} THEN 'expired' ELSE r.state END, r.rule, r.requested_at,
       r.expires_at, r.actor_id, (SELECT u.name FROM users u WHERE u.id = r.actor_id), r.token_id, r.scope_id, r.key,
       r.method, r.path, r.query, r.content_type,
       CASE WHEN CAST($5 AS {boolean}) OR (r.method = 'POST' AND r.state = 'waiting' AND r.player_id IS NULL AND r.user_id IS NULL)
            THEN r.body ELSE '' END,
       r.reason, r.state_fingerprint, CASE WHEN CAST($5 AS {boolean}) THEN r.preview ELSE CAST('[]' AS {json}) END, r.decided_at, r.decided_by,
       (SELECT u.name FROM users u WHERE u.id = r.decided_by), r.decision_reason,
       (SELECT k.name FROM api_keys k WHERE k.id = r.token_id)
FROM (SELECT id FROM (SELECT requested_at, id FROM approvals
                      WHERE CAST($4 AS TEXT) IS NULL AND (requested_at, id) < ($1, $2)
                      ORDER BY requested_at DESC, id DESC LIMIT $3) AS of_all
      UNION ALL
      SELECT id FROM (SELECT requested_at, id FROM approvals
                      WHERE state = $4 AND (requested_at, id) < ($1, $2) AND (state <> 'waiting' OR expires_at > {now})
                      ORDER BY requested_at DESC, id DESC LIMIT $3) AS of_state) AS found
     CROSS JOIN {each} approvals r WHERE r.id = found.id {end_each}
ORDER BY r.requested_at DESC, r.id DESC;

-- name: count_waiting
SELECT COUNT(*) FROM (SELECT 1 FROM approvals WHERE state = 'waiting' AND expires_at > {now} LIMIT $1) AS found;

-- Changes of an account that wait, at most $2. Those that have expired count until the retention job has found them.
-- name: count_waiting_of
SELECT COUNT(*) FROM (SELECT 1 FROM approvals WHERE actor_id = $1 AND state = 'waiting' LIMIT $2) AS found;

-- An approval of a former epoch has expired: it may have been decided after the state that was restored.
-- name: lock
SELECT CASE WHEN state = 'waiting' AND (expires_at <= {now} OR epoch <> (SELECT e.id FROM epoch e WHERE e.one = 1))
            THEN 'expired' ELSE state END
FROM approvals WHERE id = $1 {for_update};

-- What was needed to run the request again is removed with the decision.
-- name: decide
UPDATE approvals SET state = $2, decided_at = {now}, decided_by = $3, decision_reason = $4, query = '', body = '' WHERE id = $1;

-- name: renew_preview
UPDATE approvals SET state_fingerprint = $2, preview = CAST($3 AS {json}) WHERE id = $1 AND state = 'waiting';

-- Locks the approvals that still wait, although their time is over.
-- name: expired
SELECT id FROM approvals WHERE state = 'waiting' AND expires_at <= {now} ORDER BY expires_at LIMIT $1 {for_update};

-- Locks the waiting approvals that were requested in a former epoch.
-- name: former
SELECT id FROM approvals WHERE state = 'waiting' AND epoch <> (SELECT e.id FROM epoch e WHERE e.one = 1) LIMIT $1 {for_update};

-- name: expire
UPDATE approvals SET state = 'expired', query = '', body = ''
WHERE state = 'waiting'
  AND id {any} SELECT CAST(value->>'id' AS {guid}) FROM json_each($1) {end_any};

-- name: erase
UPDATE approvals SET path = '', query = '', body = '', reason = NULL, decision_reason = NULL, preview = CAST('[]' AS {json}),
                     state = CASE WHEN state = 'waiting' THEN 'expired' ELSE state END
WHERE id {any} SELECT id FROM approvals WHERE actor_id = $2
               UNION SELECT id FROM approvals WHERE user_id = $2
               UNION SELECT r.id FROM json_each($1) AS given, {each} approvals r
                     WHERE r.player_id = CAST(given.value->>'id' AS {guid}) {end_each} {end_any};

-- name: delete_old
DELETE FROM approvals WHERE id {any}
    SELECT id FROM approvals WHERE requested_at < $1 ORDER BY requested_at, id LIMIT $2 {end_any};

-- name: delete_old_gifts
DELETE FROM approval_gifts WHERE day < $1;

-- name: lock_gifts
INSERT INTO approval_gifts (day, actor_id, item_id, quantity) VALUES ({now} / 86400000, $1, $2, 0)
ON CONFLICT (day, actor_id, item_id) DO UPDATE SET quantity = approval_gifts.quantity
RETURNING quantity;

-- name: add_gifts
UPDATE approval_gifts SET quantity = quantity + $3 WHERE day = {now} / 86400000 AND actor_id = $1 AND item_id = $2;

-- name: of_person
SELECT id, state, rule, requested_at, expires_at, method, path, reason, decided_at, decided_by, decision_reason
FROM approvals WHERE actor_id = $1 OR user_id = $1 ORDER BY requested_at, id;
