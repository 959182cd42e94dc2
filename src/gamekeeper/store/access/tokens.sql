-- A caller's account needs a role, and is not suspended. Its token can only read if all its roles are read-only.
-- name: caller
SELECT t.id, t.read_only, t.access_expires - {now}, u.id, u.name, t.idle_ms IS NOT NULL,
       NOT EXISTS (SELECT 1 FROM roles o WHERE NOT o.read_only
                   AND (o.name IN (SELECT h.role FROM user_roles h WHERE h.user_id = u.id) OR (u.api AND o.name = 'api'))),
       u.editor, u.ban, u.kick, u.mute, u.api, u.users_query, u.users_manage, u.game_link, u.grants, EXISTS (SELECT 1 FROM role_quotas),
       t.second_factor, EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = u.id)
FROM tokens t JOIN user_records u ON u.id = t.user_id LEFT JOIN token_rounds r ON r.user_id = t.user_id
WHERE t.access_hash = $1 AND t.revoked_at IS NULL AND t.round = COALESCE(r.number, 0)
  AND t.access_expires > {now} AND (t.idle_ms IS NULL OR COALESCE(t.last_used, t.issued_at) > {now} - t.idle_ms)
  AND NOT u.suspended AND (u.api OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = u.id));

-- Why a token has no caller: whether it was revoked, and whether it has expired. Neither: because of its account.
-- name: end
SELECT t.revoked_at IS NOT NULL OR t.round <> COALESCE(r.number, 0),
       t.access_expires <= {now} OR (t.idle_ms IS NOT NULL AND COALESCE(t.last_used, t.issued_at) <= {now} - t.idle_ms)
FROM tokens t LEFT JOIN token_rounds r ON r.user_id = t.user_id WHERE t.access_hash = $1;

-- Milliseconds since the token was issued.
-- name: age
SELECT {now} - issued_at FROM tokens WHERE id = $1;

-- name: owner_of_refresh
SELECT user_id FROM tokens WHERE refresh_hash = $1;

-- part: issued
t.id, t.user_id, (SELECT u.name FROM users u WHERE u.id = t.user_id), t.read_only, t.refresh_hash IS NOT NULL,
t.idle_ms, t.issued_at,
CASE WHEN t.exchanged_at IS NULL AND t.refresh_expires > t.access_expires THEN t.refresh_expires
     ELSE t.access_expires END, t.last_used,
t.revoked_at IS NULL
    AND t.round = COALESCE((SELECT r.number FROM token_rounds r WHERE r.user_id = t.user_id), 0)
    AND (t.access_expires > {now} OR (t.exchanged_at IS NULL AND t.refresh_expires > {now}))
    AND (t.idle_ms IS NULL OR COALESCE(t.last_used, t.issued_at) > {now} - t.idle_ms);

-- Finds a token by its id, or by the hash of its access or refresh token, also one that no longer works.
-- name: found
SELECT {issued}
FROM tokens t WHERE t.id = $1 OR t.access_hash = $2 OR t.refresh_hash = $2;

-- The account of a token, which is given by its public id or by the hash of its refresh token.
-- name: owner
SELECT user_id FROM tokens WHERE id = $1 OR refresh_hash = $2;

-- name: lock_refresh
SELECT id, family_id, user_id, read_only,
       revoked_at IS NOT NULL OR EXISTS (SELECT 1 FROM token_rounds r WHERE r.user_id = t.user_id AND r.number > t.round),
       refresh_expires <= {now}, exchanged_at IS NOT NULL, COALESCE({now} - exchanged_at, 0), second_factor
FROM tokens t WHERE refresh_hash = $1 {for_update};

-- name: insert
INSERT INTO tokens (id, family_id, user_id, access_hash, refresh_hash, read_only,
                    issued_at, access_expires, refresh_expires, idle_ms, second_factor, round)
VALUES ($1, $2, $3, $4, $5, $6, {now}, {now} + $7, {now} + $8, $9, $10,
        COALESCE((SELECT number FROM token_rounds WHERE user_id = $3), 0));

-- name: mark_exchanged
UPDATE tokens SET exchanged_at = {now} WHERE id = $1 AND exchanged_at IS NULL;

-- name: revoke_family
UPDATE tokens SET revoked_at = {now} WHERE family_id = $1 AND revoked_at IS NULL;

-- name: revoke_of_user
INSERT INTO token_rounds (user_id, number, began_at) VALUES ($1, 1, {now})
ON CONFLICT (user_id) DO UPDATE SET number = token_rounds.number + 1, began_at = excluded.began_at;

-- name: revoke_sessions
UPDATE tokens SET revoked_at = {now}
WHERE id IN (SELECT id FROM tokens
             WHERE user_id = $1 AND idle_ms IS NOT NULL AND revoked_at IS NULL AND access_expires > {now}
               AND (CAST($2 AS {guid}) IS NULL OR id <> $2)
             ORDER BY id {for_update});

-- name: find_of_user
SELECT id FROM tokens WHERE user_id = $1 AND (id = $2 OR refresh_hash = $3);

-- name: revoke_one
UPDATE tokens SET revoked_at = {now} WHERE id = $1 AND revoked_at IS NULL;

-- name: list
SELECT id, name, read_only, issued_at, access_expires, refresh_expires, revoked_at, last_used,
       revoked_at IS NULL AND (access_expires > {now} OR refresh_expires > {now})
FROM token_records
WHERE CAST($1 AS {guid}) IS NULL OR user_id = $1
ORDER BY issued_at DESC, id LIMIT $2;

-- Tokens before the cursor (time, id), newest first. Includes ended tokens: skipping many of them would be slow.
-- name: newest
SELECT {issued}
FROM (SELECT * FROM (SELECT * FROM tokens WHERE CAST($4 AS {guid}) IS NULL AND (issued_at, id) < ($1, $2)
                     ORDER BY issued_at DESC, id DESC LIMIT $3) AS of_all
      UNION ALL
      SELECT * FROM (SELECT * FROM tokens WHERE user_id = $4 AND (issued_at, id) < ($1, $2)
                     ORDER BY issued_at DESC, id DESC LIMIT $3) AS of_user) AS t
ORDER BY t.issued_at DESC, t.id DESC;

-- The time of last use, unless it was updated less than $2 milliseconds ago.
-- name: note_use
UPDATE tokens SET last_used = {now}
WHERE id IN (SELECT t.id FROM tokens t
             WHERE t.id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1))
               AND (t.last_used IS NULL OR t.last_used <= {now} - $2)
             ORDER BY t.id {for_update});

-- name: delete_old
DELETE FROM tokens WHERE id IN (
    SELECT id FROM tokens WHERE refresh_expires < $1 AND access_expires < $1
    ORDER BY refresh_expires LIMIT $2);

-- name: of_person
SELECT id, read_only, issued_at, access_expires, refresh_expires, exchanged_at, revoked_at, last_used FROM token_records
WHERE user_id = $1 AND (issued_at, id) > ($2, $3) ORDER BY issued_at, id LIMIT $4;
