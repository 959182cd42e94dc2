-- Notes of staff about an account, or about one of its players. The player has no foreign key: a note outlives the
-- deletion of its player, and so is there again if that is undone. It goes with the account.
CREATE TABLE notes (
    id         {guid} PRIMARY KEY,
    user_id    {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    player_id  {guid},
    author_id  {guid},
    at         {long} NOT NULL,
    warning    {boolean} NOT NULL,
    text       TEXT NOT NULL
);
CREATE INDEX notes_by_time ON notes (at, id);
CREATE INDEX notes_by_user ON notes (user_id, at, id);
CREATE INDEX notes_by_player ON notes (player_id, at, id);

-- Tags of accounts and players. The player of an account's own tags is the zero guid.
CREATE TABLE tags (
    user_id    {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    player_id  {guid} NOT NULL,
    tag        TEXT NOT NULL,
    PRIMARY KEY (user_id, player_id, tag)
) {clustered};
CREATE INDEX tags_by_tag ON tags (tag, user_id, player_id);
CREATE INDEX tags_by_player ON tags (player_id);

-- Moderators and game masters get the permission, unless an operator narrowed the role.
INSERT INTO role_permissions (role, permission)
SELECT 'moderator', 'notes.write' FROM roles WHERE name = 'moderator'
AND (SELECT COUNT(*) FROM role_permissions p WHERE p.role = 'moderator'
     AND p.permission IN ('players.read', 'users.query', 'moderation.ban', 'moderation.kick', 'moderation.mute')) = 5;
INSERT INTO role_permissions (role, permission)
SELECT 'game master', 'notes.write' FROM roles WHERE name = 'game master'
AND (SELECT COUNT(*) FROM role_permissions p WHERE p.role = 'game master'
     AND p.permission IN ('players.read', 'users.query', 'moderation.ban', 'moderation.kick', 'moderation.mute',
                          'players.progress', 'players.rename', 'items.give', 'items.take', 'spells.write',
                          'variables.write', 'audit.read', 'audit.undo')) = 13;
