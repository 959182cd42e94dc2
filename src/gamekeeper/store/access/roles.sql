-- name: all
SELECT r.name, r.about,
       (SELECT {join_texts}(p.permission, ',') FROM role_permissions p WHERE p.role = r.name), r.builtin, r.read_only,
       (SELECT {join_texts}(CAST(q.item_id AS TEXT) || '=' || CAST(q.most AS TEXT), ',') FROM role_quotas q WHERE q.role = r.name)
FROM roles r ORDER BY r.name;

-- The lock of everything that decides who manages staff: giving, taking, editing, bans and deletions of staff.
-- name: lock_staff
SELECT name FROM roles WHERE name = 'admin' {for_update};

-- Another account that can manage staff: not $1, and not only by the role $2. At most a few accounts have roles or
-- permissions like these; each branch reads an index. The condition of the first is that of the index users_with_powers.
-- UNION ALL, because for UNION SQLite would read all accounts in order of their id.
-- name: another_manager
SELECT u.id
FROM (SELECT id FROM users
      WHERE (editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link) AND users_manage
      UNION ALL SELECT h.user_id FROM user_roles h JOIN role_permissions p ON p.role = h.role
            WHERE p.permission IN ('staff.manage', 'users.manage') AND h.role <> $2
      UNION ALL SELECT h.user_id FROM user_roles h WHERE h.role = 'admin'
      UNION ALL SELECT d.user_id FROM user_permissions d WHERE d.permission IN ('staff.manage', 'users.manage')
      UNION ALL SELECT a.id FROM users a
            WHERE (editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link) AND a.api
              AND $2 <> 'api' AND EXISTS (SELECT 1 FROM role_permissions p WHERE p.role = 'api'
                                          AND p.permission IN ('staff.manage', 'users.manage'))) AS m
JOIN users u ON u.id = m.id
WHERE (CAST($1 AS {guid}) IS NULL OR u.id <> $1)
  AND NOT u.suspended AND (u.api OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = u.id))
  AND NOT EXISTS (SELECT 1 FROM bans b WHERE b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now}))
LIMIT 1;

-- An account that can decide on approvals and is not in $1. Each branch reads an index, and UNION ALL is as above.
-- name: another_decider
SELECT u.id
FROM (SELECT id FROM users
      WHERE (editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link) AND users_manage
      UNION ALL SELECT h.user_id FROM user_roles h JOIN role_permissions p ON p.role = h.role
            WHERE p.permission IN ('approvals.decide', 'users.manage')
      UNION ALL SELECT h.user_id FROM user_roles h WHERE h.role = 'admin'
      UNION ALL SELECT d.user_id FROM user_permissions d WHERE d.permission IN ('approvals.decide', 'users.manage')
      UNION ALL SELECT a.id FROM users a
            WHERE (editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link) AND a.api
              AND EXISTS (SELECT 1 FROM role_permissions p WHERE p.role = 'api'
                          AND p.permission IN ('approvals.decide', 'users.manage'))) AS m
JOIN users u ON u.id = m.id
WHERE u.id NOT IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1))
  AND NOT u.suspended AND (u.api OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = u.id))
  AND NOT EXISTS (SELECT 1 FROM bans b WHERE b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now}))
LIMIT 1;

-- A role without its permissions.
-- name: save
INSERT INTO roles (name, about, builtin, read_only) VALUES ($1, $2, {false}, $3)
ON CONFLICT (name) DO UPDATE SET about = excluded.about, read_only = excluded.read_only;

-- name: remove_permissions
DELETE FROM role_permissions WHERE role = $1 AND permission IN (SELECT value->>'permission' FROM json_each($2));

-- name: add_permissions
INSERT INTO role_permissions (role, permission) SELECT $1, value->>'permission' FROM json_each($2);

-- name: remove_quotas
DELETE FROM role_quotas WHERE role = $1 AND item_id NOT IN (SELECT CAST(value->>'item' AS {guid}) FROM json_each($2));

-- name: save_quotas
INSERT INTO role_quotas (role, item_id, most)
SELECT $1, CAST(value->>'item' AS {guid}), CAST(value->>'most' AS INTEGER) FROM json_each($2) WHERE {true}
ON CONFLICT (role, item_id) DO UPDATE SET most = excluded.most;

-- name: delete
DELETE FROM roles WHERE name = $1;

-- name: has_holder
SELECT 1 FROM user_roles WHERE role = $1 LIMIT 1;

-- name: give, grant {table: user_roles|user_permissions} {column: role|permission}
INSERT INTO {table} (user_id, {column}, given_at) SELECT CAST($1 AS {guid}), value->>'{column}', {now} FROM json_each($2);

-- name: take, revoke {table: user_roles|user_permissions} {column: role|permission}
DELETE FROM {table} WHERE user_id = $1 AND {column} IN (SELECT value->>'{column}' FROM json_each($2));

-- The last sign-in of each account in the security log, its live sessions among its 200 newest tokens, and whether it
-- has a second factor.
-- name: activity
SELECT wanted.value->>'id',
       (SELECT MAX(s.at) FROM security_events s
        WHERE s.user_id = CAST(wanted.value->>'id' AS {guid}) AND s.kind = 'sign_in'),
       (SELECT COUNT(*)
        FROM (SELECT * FROM tokens WHERE user_id = CAST(wanted.value->>'id' AS {guid})
              ORDER BY issued_at DESC, id DESC LIMIT 200) AS t
        WHERE t.idle_ms IS NOT NULL AND t.revoked_at IS NULL AND t.access_expires > {now}
          AND COALESCE(t.last_used, t.issued_at) > {now} - t.idle_ms
          AND t.round = COALESCE((SELECT r.number FROM token_rounds r WHERE r.user_id = t.user_id), 0)),
       EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = CAST(wanted.value->>'id' AS {guid}))
FROM json_each($1) AS wanted;

-- name: of_person
SELECT 'role' AS kind, role AS name, given_at FROM user_roles WHERE user_id = $1
UNION ALL
SELECT 'permission', permission, given_at FROM user_permissions WHERE user_id = $1 ORDER BY 1, 2;
