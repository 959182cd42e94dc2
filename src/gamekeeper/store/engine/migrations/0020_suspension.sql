-- Suspended accounts cannot log in. Instances of the version before ignore the column.
ALTER TABLE users ADD COLUMN suspended {boolean} NOT NULL DEFAULT {false};

-- only: sqlite
DROP VIEW user_records;
-- only: sqlite
CREATE VIEW user_records AS
SELECT u.id, u.name, u.fold, u.email, u.password, u.editor, u.ban, u.kick, u.mute, u.api,
       u.users_query, u.users_manage, u.game_link, u.created_at, m.reason AS mute_reason, r.code AS reset_code,
       b.reason AS ban_reason,
       (SELECT COALESCE(SUM(CAST(p.play_time AS DOUBLE PRECISION)), 0) FROM players p WHERE p.user_id = u.id) AS play_time, -- computed only if selected
       -- Roles (with @), directly granted permissions (with =) and permissions of the roles; null for most accounts.
       CASE WHEN u.api OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = u.id)
                 OR EXISTS (SELECT 1 FROM user_permissions d WHERE d.user_id = u.id)
       THEN (SELECT {join_texts}(g.word, ',')
             FROM (SELECT '@' || h.role AS word FROM user_roles h WHERE h.user_id = u.id
                   UNION ALL SELECT p.permission FROM user_roles h JOIN role_permissions p ON p.role = h.role WHERE h.user_id = u.id
                   UNION ALL SELECT p.permission FROM role_permissions p WHERE u.api AND p.role = 'api'
                   UNION ALL SELECT '=' || d.permission FROM user_permissions d WHERE d.user_id = u.id) AS g) END AS grants,
       u.suspended
FROM users u
LEFT JOIN mutes m ON m.user_id = u.id AND (m.ends_at IS NULL OR m.ends_at > {now})
LEFT JOIN bans b ON b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now})
LEFT JOIN resets r ON r.user_id = u.id AND r.expires_at > {now} AND r.tries_left > 0;
-- only: postgres
CREATE OR REPLACE VIEW user_records AS
SELECT u.id, u.name, u.fold, u.email, u.password, u.editor, u.ban, u.kick, u.mute, u.api,
       u.users_query, u.users_manage, u.game_link, u.created_at, m.reason AS mute_reason, r.code AS reset_code,
       b.reason AS ban_reason,
       (SELECT COALESCE(SUM(CAST(p.play_time AS DOUBLE PRECISION)), 0) FROM players p WHERE p.user_id = u.id) AS play_time, -- computed only if selected
       -- Roles (with @), directly granted permissions (with =) and permissions of the roles; null for most accounts.
       CASE WHEN u.api OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = u.id)
                 OR EXISTS (SELECT 1 FROM user_permissions d WHERE d.user_id = u.id)
       THEN (SELECT {join_texts}(g.word, ',')
             FROM (SELECT '@' || h.role AS word FROM user_roles h WHERE h.user_id = u.id
                   UNION ALL SELECT p.permission FROM user_roles h JOIN role_permissions p ON p.role = h.role WHERE h.user_id = u.id
                   UNION ALL SELECT p.permission FROM role_permissions p WHERE u.api AND p.role = 'api'
                   UNION ALL SELECT '=' || d.permission FROM user_permissions d WHERE d.user_id = u.id) AS g) END AS grants,
       u.suspended
FROM users u
LEFT JOIN mutes m ON m.user_id = u.id AND (m.ends_at IS NULL OR m.ends_at > {now})
LEFT JOIN bans b ON b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now})
LEFT JOIN resets r ON r.user_id = u.id AND r.expires_at > {now} AND r.tries_left > 0;
