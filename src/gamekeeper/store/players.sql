-- name: record_by_fold
SELECT id, user_id, document, class_name, map_name, online, last_online FROM player_records WHERE fold = $1;

-- name: record_by_id
SELECT id, user_id, document, class_name, map_name, online, last_online FROM player_records WHERE id = $1;

-- name: records_of_user
SELECT id, user_id, document, class_name, map_name, online, last_online FROM player_records
WHERE user_id = $1 ORDER BY created_at, id;

-- name: count
SELECT COUNT(*) FROM players;

-- name: records_by_name
SELECT id, user_id, document, class_name, map_name, online, last_online FROM player_records
ORDER BY fold, id LIMIT $1 OFFSET $2;

-- name: records_by_rank
SELECT id, user_id, document, class_name, map_name, online, last_online FROM player_records
ORDER BY level DESC, exp DESC, id DESC LIMIT $1 OFFSET $2;

-- name: records_by_rank_ascending
SELECT id, user_id, document, class_name, map_name, online, last_online FROM player_records
ORDER BY level, exp, id LIMIT $1 OFFSET $2;

-- name: id_by_fold
SELECT id FROM players WHERE fold = $1;

-- name: id_by_id
SELECT id FROM players WHERE id = $1;

-- name: lock_by_fold
SELECT id, user_id, document, created_at, last_online FROM players WHERE fold = $1 {for_update};

-- name: lock_by_id
SELECT id, user_id, document, created_at, last_online FROM players WHERE id = $1 {for_update};

-- name: insert
INSERT INTO players (id, user_id, name, fold, level, exp, class_id, map_id, created_at, last_online, document)
SELECT CAST(value->>'id' AS {guid}), CAST(value->>'user_id' AS {guid}), value->>'name', value->>'fold',
       CAST(value->>'level' AS INTEGER), CAST(value->>'exp' AS {long}),
       CAST(value->>'class_id' AS {guid}), CAST(value->>'map_id' AS {guid}),
       CAST(value->>'created_at' AS {long}), CAST(value->>'last_online' AS {long}),
       CAST(value->>'document' AS {document})
FROM json_each($1);

-- name: update
UPDATE players
SET user_id = $2, name = $3, fold = $4, level = $5, exp = $6, class_id = $7, map_id = $8,
    created_at = $9, last_online = $10, document = $11
WHERE id = $1;

-- name: delete
DELETE FROM players WHERE id = $1;

-- name: columns_after
SELECT id, user_id, name, fold, level, exp, class_id, map_id, created_at, document FROM players
WHERE id > $1 ORDER BY id LIMIT $2;
