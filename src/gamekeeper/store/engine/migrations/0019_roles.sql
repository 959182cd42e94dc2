-- Roles and permissions. `users` stays as it is, so that instances of the version before can run beside this one.
-- Roles: named sets of permissions. game/permissions.py describes the permissions and the built-in roles.
CREATE TABLE roles (
    name       {ordered} PRIMARY KEY,
    about      TEXT NOT NULL,
    builtin    {boolean} NOT NULL,
    read_only  {boolean} NOT NULL              -- accounts with only such roles cannot write
) {strict};
CREATE TABLE role_permissions (
    role        {ordered} NOT NULL REFERENCES roles (name) ON DELETE CASCADE,
    permission  TEXT NOT NULL,
    PRIMARY KEY (role, permission)
) {clustered};
-- Roles of accounts, except the role api: users.api stands for it.
CREATE TABLE user_roles (
    user_id   {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role      {ordered} NOT NULL REFERENCES roles (name),
    given_at  {long} NOT NULL,
    PRIMARY KEY (user_id, role)
) {clustered};
CREATE INDEX user_roles_by_role ON user_roles (role, user_id);
-- Directly granted permissions that have no column in `users`.
CREATE TABLE user_permissions (
    user_id     {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    permission  TEXT NOT NULL,
    given_at    {long} NOT NULL,
    PRIMARY KEY (user_id, permission)
) {clustered};
CREATE INDEX user_permissions_by_name ON user_permissions (permission, user_id);
INSERT INTO roles (name, about, builtin, read_only) VALUES
    ('viewer', 'Reads players, accounts and the audit log; changes nothing.', {true}, {true}),
    ('moderator', 'Bans, mutes and kicks.', {true}, {false}),
    ('game master', 'Moderates, and changes players and their items.', {true}, {false}),
    ('admin', 'Has every permission, also those of later versions.', {true}, {false}),
    ('game server', 'Reports players over the game link.', {true}, {false}),
    ('shop', 'Looks players up and gives them items.', {true}, {false}),
    ('api', 'What every token of the API could do before there were roles.', {true}, {false});
INSERT INTO role_permissions (role, permission) VALUES
    ('viewer', 'players.read'), ('viewer', 'users.query'), ('viewer', 'audit.read'),
    ('moderator', 'players.read'), ('moderator', 'users.query'), ('moderator', 'moderation.ban'),
    ('moderator', 'moderation.kick'), ('moderator', 'moderation.mute'),
    ('game master', 'players.read'), ('game master', 'users.query'), ('game master', 'moderation.ban'),
    ('game master', 'moderation.kick'), ('game master', 'moderation.mute'), ('game master', 'players.progress'),
    ('game master', 'players.rename'), ('game master', 'items.give'), ('game master', 'items.take'),
    ('game master', 'spells.write'), ('game master', 'variables.write'), ('game master', 'audit.read'),
    ('game master', 'audit.undo'),
    ('game server', 'game.link'), ('game server', 'players.read'), ('game server', 'users.query'),
    ('shop', 'players.read'), ('shop', 'items.give'),
    ('api', 'players.read'), ('api', 'players.progress'), ('api', 'players.rename'), ('api', 'players.delete'),
    ('api', 'items.give'), ('api', 'items.take'), ('api', 'spells.write'), ('api', 'variables.write'),
    ('api', 'audit.read'), ('api', 'audit.undo'), ('api', 'bulk.run');

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
                   UNION ALL SELECT '=' || d.permission FROM user_permissions d WHERE d.user_id = u.id) AS g) END AS grants
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
                   UNION ALL SELECT '=' || d.permission FROM user_permissions d WHERE d.user_id = u.id) AS g) END AS grants
FROM users u
LEFT JOIN mutes m ON m.user_id = u.id AND (m.ends_at IS NULL OR m.ends_at > {now})
LEFT JOIN bans b ON b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now})
LEFT JOIN resets r ON r.user_id = u.id AND r.expires_at > {now} AND r.tries_left > 0;
