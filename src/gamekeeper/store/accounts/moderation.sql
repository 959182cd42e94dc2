-- name: save_ban, save_mute {table: bans|mutes}
INSERT INTO {table} (user_id, reason, moderator, started_at, ends_at, moderator_id) VALUES ($1, $2, $3, {now}, $4, $5)
ON CONFLICT (user_id) DO UPDATE
SET reason = excluded.reason, moderator = excluded.moderator, started_at = excluded.started_at,
    ends_at = excluded.ends_at, moderator_id = excluded.moderator_id;

-- name: load_bans, load_mutes {table: bans|mutes}
INSERT INTO {table} (user_id, reason, moderator, started_at, ends_at) VALUES ($1, $2, $3, $4, $5);

-- name: backdate_ban, backdate_mute {table: bans|mutes}
UPDATE {table} SET started_at = $2 WHERE user_id = $1;

-- name: lift_ban, lift_mute {table: bans|mutes}
DELETE FROM {table} WHERE user_id = $1;

-- name: ban_of, mute_of {table: bans|mutes}
SELECT reason, moderator, ends_at, moderator_id FROM {table} WHERE user_id = $1;

-- name: bans_of, mutes_of {table: bans|mutes}
SELECT r.user_id, r.reason, r.moderator, r.started_at, r.ends_at
FROM json_each($1) AS wanted, {each} {table} r WHERE r.user_id = CAST(value->>'id' AS {guid})
     AND (ends_at IS NULL OR ends_at > {now}) {end_each};

-- Removes the name of the moderator $1, or one of the names $2 if no account is known.
-- name: blank_bans_by, blank_mutes_by {table: bans|mutes}
UPDATE {table} SET moderator = '', moderator_id = NULL WHERE user_id {any}
    SELECT user_id FROM {table} WHERE moderator_id = $1
    UNION ALL
    SELECT user_id FROM {table} WHERE moderator <> '' AND moderator_id IS NULL
        AND lower(moderator) {any} SELECT value->>'name' FROM json_each($2) {end_any} {end_any};

-- name: owner_by_fold
SELECT user_id, id, name FROM players
WHERE fold = COALESCE((SELECT c.fold FROM players c WHERE c.fold >= $1 AND c.fold < $3 AND c.name = $2
                       ORDER BY c.fold LIMIT 1), $1);

-- name: owner_by_id
SELECT user_id, id, name FROM players WHERE id = $1;

-- name: online_of_user
SELECT p.id, o.server FROM players p JOIN presence o ON o.player_id = p.id WHERE p.user_id = $1 ORDER BY p.id;

-- name: of_person
SELECT 'ban' AS kind, reason, moderator, started_at, ends_at FROM bans WHERE user_id = $1
UNION ALL
SELECT 'mute', reason, moderator, started_at, ends_at FROM mutes WHERE user_id = $1;
