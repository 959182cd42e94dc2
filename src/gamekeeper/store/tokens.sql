-- name: caller
SELECT t.id, t.read_only, t.access_expires - {now}, u.id, u.name, u.users_query, u.users_manage, u.game_link,
       u.ban, u.kick, u.mute
FROM tokens t JOIN users u ON u.id = t.user_id
WHERE t.access_hash = $1 AND t.revoked_at IS NULL AND t.access_expires > {now} AND u.api;

-- name: owner_of_refresh
SELECT user_id FROM tokens WHERE refresh_hash = $1;

-- name: lock_refresh
SELECT id, family_id, user_id, read_only, revoked_at IS NOT NULL, refresh_expires <= {now},
       exchanged_at IS NOT NULL, COALESCE({now} - exchanged_at, 0)
FROM tokens WHERE refresh_hash = $1 {for_update};

-- name: insert
INSERT INTO tokens (id, family_id, user_id, access_hash, refresh_hash, read_only, issued_at, access_expires, refresh_expires)
VALUES ($1, $2, $3, $4, $5, $6, {now}, {now} + $7, {now} + $8);

-- name: mark_exchanged
UPDATE tokens SET exchanged_at = {now} WHERE id = $1 AND exchanged_at IS NULL;

-- name: revoke_family
UPDATE tokens SET revoked_at = {now} WHERE family_id = $1 AND revoked_at IS NULL;

-- name: revoke_of_user
UPDATE tokens SET revoked_at = {now} WHERE user_id = $1 AND revoked_at IS NULL;

-- name: find_of_user
SELECT id FROM tokens WHERE user_id = $1 AND (id = $2 OR refresh_hash = $3);

-- name: revoke_one
UPDATE tokens SET revoked_at = {now} WHERE id = $1 AND revoked_at IS NULL;

-- name: list
SELECT t.id, u.name, t.read_only, t.issued_at, t.access_expires, t.refresh_expires, t.revoked_at, t.last_used,
       t.revoked_at IS NULL AND (t.access_expires > {now} OR t.refresh_expires > {now})
FROM tokens t JOIN users u ON u.id = t.user_id
WHERE CAST($1 AS {guid}) IS NULL OR u.id = $1
ORDER BY t.issued_at DESC, t.id LIMIT $2;

-- name: note_use
UPDATE tokens SET last_used = {now}
WHERE id IN (SELECT t.id FROM tokens t
             WHERE t.id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1))
               AND (t.last_used IS NULL OR t.last_used <= {now} - $2)
             ORDER BY t.id {for_update});

-- name: delete_old
DELETE FROM tokens WHERE id IN (
    SELECT id FROM tokens WHERE refresh_expires < {now} - $1 AND access_expires < {now} - $1
    ORDER BY refresh_expires LIMIT $2);
