-- name: penalties
SELECT 'ban', reason, moderator, started_at, ends_at FROM bans WHERE user_id = $1
UNION ALL
SELECT 'mute', reason, moderator, started_at, ends_at FROM mutes WHERE user_id = $1;

-- name: tokens
SELECT id, read_only, issued_at, access_expires, refresh_expires, exchanged_at, revoked_at, last_used FROM token_records
WHERE user_id = $1 AND (issued_at, id) > ($2, $3) ORDER BY issued_at, id LIMIT $4;

-- name: mails
SELECT id, kind, address, queued_at, expires_at, tries, sent_at, failed_at, last_error FROM mails
WHERE user_id = $1 ORDER BY queued_at, id;

-- name: roles
SELECT 'role', role, given_at FROM user_roles WHERE user_id = $1
UNION ALL
SELECT 'permission', permission, given_at FROM user_permissions WHERE user_id = $1 ORDER BY 1, 2;

-- name: api_keys
SELECT id, name, created_at, expires_at, suspended_at, revoked_at, last_used, last_address FROM api_keys
WHERE user_id = $1 ORDER BY created_at, id;

-- name: guilds
SELECT m.player_id, m.guild_id, g.name, m.rank, m.joined_at
FROM players p JOIN guild_members m ON m.player_id = p.id JOIN guilds g ON g.id = m.guild_id
WHERE p.user_id = $1 ORDER BY m.player_id;

-- name: identities
SELECT issuer, subject, added_at, last_used FROM identities WHERE user_id = $1 ORDER BY added_at, id;

-- name: second_factors
SELECT kind, name, added_at, last_used FROM second_factors WHERE user_id = $1 ORDER BY added_at, id;

-- name: recovery_codes
SELECT made_at, used_at FROM recovery_codes WHERE user_id = $1 ORDER BY made_at, used_at;

-- name: callers
SELECT caller, at FROM known_callers WHERE user_id = $1 ORDER BY caller;
