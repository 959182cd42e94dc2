-- name: of_user
SELECT id, user_id, kind, name, secret, credential_id, sign_count, used_step, added_at, last_used
FROM second_factors WHERE user_id = $1 ORDER BY added_at, id;

-- name: has_any
SELECT 1 FROM second_factors WHERE user_id = $1 LIMIT 1;

-- name: holders
SELECT DISTINCT f.user_id FROM json_each($1) AS given
JOIN second_factors f ON f.user_id = CAST(given.value->>'id' AS {guid});

-- name: insert
INSERT INTO second_factors (id, user_id, kind, name, secret, credential_id, sign_count, used_step, added_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, {now});

-- name: delete
DELETE FROM second_factors WHERE id = $1;

-- name: delete_of_user
DELETE FROM second_factors WHERE user_id = $1;

-- Finds no row if the step was used already, here or on another instance.
-- name: use
UPDATE second_factors SET used_step = $2, sign_count = $3, last_used = {now} WHERE id = $1 AND used_step < $2 RETURNING id;

-- Finds no row if there is no code with this hash, or if it was used already.
-- name: use_recovery_code
UPDATE recovery_codes SET used_at = {now} WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL RETURNING code_hash;

-- name: count_recovery_codes
SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL;

-- name: delete_recovery_codes
DELETE FROM recovery_codes WHERE user_id = $1;

-- name: insert_recovery_codes
INSERT INTO recovery_codes (user_id, code_hash, made_at)
SELECT CAST($1 AS {guid}), value->>'hash', {now} FROM json_each($2);

-- name: totp_after
SELECT f.id, f.user_id, f.secret, u.name FROM second_factors f JOIN users u ON u.id = f.user_id
WHERE f.kind = 'totp' AND f.id > $1 ORDER BY f.id LIMIT $2;

-- name: of_person
SELECT kind, name, added_at, last_used FROM second_factors WHERE user_id = $1 ORDER BY added_at, id;

-- name: codes_of_person
SELECT made_at, used_at FROM recovery_codes WHERE user_id = $1 ORDER BY made_at, used_at;
