-- name: of_player
SELECT variable_id, type, value FROM player_texts WHERE player_id = $1 ORDER BY variable_id;

-- name: between
SELECT player_id, variable_id, type, value FROM player_texts
WHERE player_id >= $1 AND player_id <= $2 ORDER BY player_id, variable_id;

-- name: load
INSERT INTO player_texts (player_id, variable_id, type, value) VALUES ($1, $2, $3, $4);

-- name: insert
INSERT INTO player_texts (player_id, variable_id, type, value)
SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'variable_id' AS {guid}), value->>'type', value->>'value'
FROM json_each($1);
