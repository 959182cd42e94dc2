-- The caller of an API key: its limits, and what its role and its owner may do. A banned or suspended owner, or one
-- without a role, has no caller.
-- name: caller
SELECT k.id, k.name, k.scope_id, k.role, k.permissions, k.addresses, k.per_minute, k.items, k.most_per_request,
       k.most_per_day, k.servers, k.expires_at - {now}, x.ends_at - {now},
       (SELECT {join_texts}(p.permission, ',') FROM role_permissions p WHERE p.role = k.role),
       COALESCE((SELECT o.read_only FROM roles o WHERE o.name = k.role), {false}),
       NOT EXISTS (SELECT 1 FROM roles o WHERE NOT o.read_only
                   AND (o.name IN (SELECT h.role FROM user_roles h WHERE h.user_id = u.id) OR (u.api AND o.name = 'api'))),
       u.id, u.name, u.editor, u.ban, u.kick, u.mute, u.api, u.users_query, u.users_manage, u.game_link, u.grants,
       EXISTS (SELECT 1 FROM role_quotas)
FROM api_key_texts x JOIN api_keys k ON k.id = x.key_id JOIN user_records u ON u.id = k.user_id
WHERE x.hash = $1 AND (x.ends_at IS NULL OR x.ends_at > {now})
  AND k.revoked_at IS NULL AND k.suspended_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now})
  AND u.ban_reason IS NULL AND NOT u.suspended AND (u.api OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = u.id));

-- Why a key has no caller: whether it was revoked, is suspended or has expired, or its text has. None of these: because
-- of its owner.
-- name: end
SELECT k.revoked_at IS NOT NULL, k.suspended_at IS NOT NULL, COALESCE(k.expires_at <= {now}, {false}),
       COALESCE(x.ends_at <= {now}, {false})
FROM api_key_texts x JOIN api_keys k ON k.id = x.key_id WHERE x.hash = $1;

-- part: key
k.id, k.user_id, u.name, k.created_by, k.scope_id, k.name, k.role, k.permissions, k.addresses, k.per_minute,
k.items, k.most_per_request, k.most_per_day, k.servers, k.created_at, k.expires_at, k.suspended_at, k.revoked_at,
k.last_used, k.last_address,
(SELECT MAX(x.ends_at) FROM api_key_texts x WHERE x.key_id = k.id AND x.ends_at > {now}),
k.revoked_at IS NULL AND k.suspended_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now}),
(SELECT x.made_by FROM api_key_texts x WHERE x.key_id = k.id AND x.ends_at IS NULL
   AND EXISTS (SELECT 1 FROM api_key_texts o WHERE o.key_id = k.id AND o.ends_at IS NOT NULL) LIMIT 1)
FROM api_keys k JOIN users u ON u.id = k.user_id;

-- The newest keys. This statement and the four after it select the same columns; each uses another index.
-- name: newest
SELECT {key} ORDER BY k.created_at DESC, k.id LIMIT $1;

-- name: newest_of_user
SELECT {key} WHERE k.user_id = $1 ORDER BY k.created_at DESC, k.id LIMIT $2;

-- name: live_of_user
SELECT {key}
WHERE k.user_id = $1 AND k.revoked_at IS NULL AND k.suspended_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now})
ORDER BY k.name, k.id;

-- name: find
SELECT {key} WHERE k.id = $1;

-- name: find_by_hash
SELECT {key} WHERE k.id = (SELECT x.key_id FROM api_key_texts x WHERE x.hash = $1);

-- name: ids_of_user
SELECT id FROM api_keys WHERE user_id = $1 ORDER BY id;

-- name: lock
SELECT id FROM api_keys WHERE id = $1 {for_update};

-- name: insert
INSERT INTO api_keys (id, user_id, created_by, scope_id, name, role, permissions, addresses, per_minute, items,
                      most_per_request, most_per_day, servers, expires_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, {now});

-- Creation and last use of a key that is loaded as an earlier one.
-- name: backdate
UPDATE api_keys SET created_at = $2, last_used = $3, last_address = $4 WHERE id = $1;

-- name: insert_text
INSERT INTO api_key_texts (hash, key_id, made_by) VALUES ($1, $2, $3);

-- Earlier texts end after $2 milliseconds, unless they end before that.
-- name: end_texts
UPDATE api_key_texts SET ends_at = {now} + $2 WHERE key_id = $1 AND (ends_at IS NULL OR ends_at > {now} + $2);

-- The accounts that created or rotated these keys.
-- name: makers
SELECT m.key_id, m.made_by, u.name
FROM (SELECT k.id AS key_id, k.created_by AS made_by FROM api_keys k
      WHERE k.id {any} SELECT CAST(value->>'id' AS {guid}) FROM json_each($1) {end_any}
      UNION SELECT x.key_id, x.made_by FROM api_key_texts x
      WHERE x.key_id {any} SELECT CAST(value->>'id' AS {guid}) FROM json_each($1) {end_any}) AS m
LEFT JOIN users u ON u.id = m.made_by WHERE m.made_by IS NOT NULL ORDER BY m.key_id, u.name, m.made_by;

-- name: is_text_active
SELECT 1 FROM api_key_texts WHERE hash = $1 AND (ends_at IS NULL OR ends_at > {now});

-- name: update
UPDATE api_keys SET name = $2, user_id = $3, suspended_at = CASE WHEN $4 THEN COALESCE(suspended_at, {now}) END WHERE id = $1;

-- name: revoke
UPDATE api_keys SET revoked_at = {now} WHERE id = $1 AND revoked_at IS NULL;

-- name: has_role
SELECT 1 FROM api_keys WHERE role = $1 LIMIT 1;

-- The times and the client addresses of last uses.
-- name: note_use
UPDATE api_keys SET last_used = {now}, last_address = (
    SELECT value->>'address' FROM json_each($1) WHERE CAST(value->>'id' AS {guid}) = api_keys.id)
WHERE id IN (SELECT k.id FROM api_keys k WHERE k.id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1))
             ORDER BY k.id {for_update});

-- name: of_person
SELECT id, name, created_at, expires_at, suspended_at, revoked_at, last_used, last_address FROM api_keys
WHERE user_id = $1 ORDER BY created_at, id;
