-- name: save_ban
INSERT INTO bans (user_id, reason, moderator, started_at, ends_at, moderator_id) VALUES ($1, $2, $3, {now}, $4, $5)
ON CONFLICT (user_id) DO UPDATE
SET reason = excluded.reason, moderator = excluded.moderator, started_at = excluded.started_at,
    ends_at = excluded.ends_at, moderator_id = excluded.moderator_id;

-- name: save_mute
INSERT INTO mutes (user_id, reason, moderator, started_at, ends_at, moderator_id) VALUES ($1, $2, $3, {now}, $4, $5)
ON CONFLICT (user_id) DO UPDATE
SET reason = excluded.reason, moderator = excluded.moderator, started_at = excluded.started_at,
    ends_at = excluded.ends_at, moderator_id = excluded.moderator_id;

-- name: load_bans
INSERT INTO bans (user_id, reason, moderator, started_at, ends_at) VALUES ($1, $2, $3, $4, $5);

-- name: load_mutes
INSERT INTO mutes (user_id, reason, moderator, started_at, ends_at) VALUES ($1, $2, $3, $4, $5);

-- name: backdate_ban
UPDATE bans SET started_at = $2 WHERE user_id = $1;

-- name: backdate_mute
UPDATE mutes SET started_at = $2 WHERE user_id = $1;

-- name: lift_ban
DELETE FROM bans WHERE user_id = $1;

-- name: lift_mute
DELETE FROM mutes WHERE user_id = $1;

-- name: ban_of
SELECT reason, moderator, ends_at, moderator_id FROM bans WHERE user_id = $1;

-- name: mute_of
SELECT reason, moderator, ends_at, moderator_id FROM mutes WHERE user_id = $1;

-- name: bans_of
SELECT r.user_id, r.reason, r.moderator, r.started_at, r.ends_at
FROM json_each($1) AS wanted, {each} bans r WHERE r.user_id = CAST(value->>'id' AS {guid})
     AND (ends_at IS NULL OR ends_at > {now}) {end_each};

-- name: mutes_of
SELECT r.user_id, r.reason, r.moderator, r.started_at, r.ends_at
FROM json_each($1) AS wanted, {each} mutes r WHERE r.user_id = CAST(value->>'id' AS {guid})
     AND (ends_at IS NULL OR ends_at > {now}) {end_each};

-- Removes the name of the moderator $1, or one of the names $2 if no account is known.
-- name: blank_bans_by
UPDATE bans SET moderator = '', moderator_id = NULL WHERE user_id IN (
    SELECT user_id FROM bans WHERE moderator_id = $1
    UNION ALL
    SELECT user_id FROM bans WHERE moderator <> '' AND moderator_id IS NULL
        AND lower(moderator) IN (SELECT value->>'name' FROM json_each($2)));

-- Arrays: PostgreSQL would join the names by reading all bans.
-- name: blank_bans_by (postgres)
UPDATE bans SET moderator = '', moderator_id = NULL WHERE user_id = ANY(ARRAY(
    SELECT user_id FROM bans WHERE moderator_id = $1
    UNION ALL
    SELECT user_id FROM bans WHERE moderator <> '' AND moderator_id IS NULL
        AND lower(moderator) = ANY(ARRAY(SELECT value->>'name' FROM json_each($2)))));

-- name: blank_mutes_by
UPDATE mutes SET moderator = '', moderator_id = NULL WHERE user_id IN (
    SELECT user_id FROM mutes WHERE moderator_id = $1
    UNION ALL
    SELECT user_id FROM mutes WHERE moderator <> '' AND moderator_id IS NULL
        AND lower(moderator) IN (SELECT value->>'name' FROM json_each($2)));

-- name: blank_mutes_by (postgres)
UPDATE mutes SET moderator = '', moderator_id = NULL WHERE user_id = ANY(ARRAY(
    SELECT user_id FROM mutes WHERE moderator_id = $1
    UNION ALL
    SELECT user_id FROM mutes WHERE moderator <> '' AND moderator_id IS NULL
        AND lower(moderator) = ANY(ARRAY(SELECT value->>'name' FROM json_each($2)))));

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
