-- Permissions for chat, commands, variables of the world and logs. A built-in role gets them only if it still has every
-- permission that a new database gave it: an operator who narrowed it wanted less.
INSERT INTO role_permissions (role, permission)
SELECT 'viewer', 'logs.read' FROM roles WHERE name = 'viewer'
AND (SELECT COUNT(*) FROM role_permissions p WHERE p.role = 'viewer'
     AND p.permission IN ('players.read', 'users.query', 'audit.read')) = 3;
INSERT INTO role_permissions (role, permission)
SELECT 'moderator', new.permission FROM roles
CROSS JOIN (SELECT 'chat.send' AS permission UNION ALL SELECT 'players.command' UNION ALL SELECT 'logs.read') AS new
WHERE name = 'moderator'
AND (SELECT COUNT(*) FROM role_permissions p WHERE p.role = 'moderator'
     AND p.permission IN ('players.read', 'users.query', 'moderation.ban', 'moderation.kick', 'moderation.mute')) = 5;
INSERT INTO role_permissions (role, permission)
SELECT 'game master', new.permission FROM roles
CROSS JOIN (SELECT 'chat.send' AS permission UNION ALL SELECT 'players.command' UNION ALL SELECT 'logs.read'
            UNION ALL SELECT 'world.write') AS new
WHERE name = 'game master'
AND (SELECT COUNT(*) FROM role_permissions p WHERE p.role = 'game master'
     AND p.permission IN ('players.read', 'users.query', 'moderation.ban', 'moderation.kick', 'moderation.mute',
                          'players.progress', 'players.rename', 'items.give', 'items.take', 'spells.write',
                          'variables.write', 'audit.read', 'audit.undo')) = 13;
INSERT INTO role_permissions (role, permission)
SELECT 'api', new.permission FROM roles
CROSS JOIN (SELECT 'chat.send' AS permission UNION ALL SELECT 'players.command' UNION ALL SELECT 'world.write'
            UNION ALL SELECT 'logs.read' UNION ALL SELECT 'addresses.read') AS new
WHERE name = 'api'
AND (SELECT COUNT(*) FROM role_permissions p WHERE p.role = 'api'
     AND p.permission IN ('players.read', 'players.progress', 'players.rename', 'players.delete', 'items.give',
                          'items.take', 'spells.write', 'variables.write', 'audit.read', 'audit.undo', 'bulk.run')) = 11;
