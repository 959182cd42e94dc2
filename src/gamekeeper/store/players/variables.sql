-- name: of_player, texts_of_player {table: player_variables|player_texts}
SELECT variable_id, type, value FROM {table} WHERE player_id = $1 ORDER BY variable_id;

-- With text and decimals. A value of player_variables wins: the type of a variable may have changed.
-- name: all_of_player
SELECT variable_id, type, value, NULL AS text FROM player_variables WHERE player_id = $1
UNION ALL
SELECT t.variable_id, t.type, NULL, t.value FROM player_texts t WHERE t.player_id = $1
  AND NOT EXISTS (SELECT 1 FROM player_variables v WHERE v.player_id = $1 AND v.variable_id = t.variable_id)
ORDER BY variable_id;

-- name: any_of_player
SELECT variable_id, type, value, NULL AS text FROM player_variables WHERE player_id = $1 AND variable_id = $2
UNION ALL
SELECT t.variable_id, t.type, NULL, t.value FROM player_texts t WHERE t.player_id = $1 AND t.variable_id = $2
  AND NOT EXISTS (SELECT 1 FROM player_variables v WHERE v.player_id = $1 AND v.variable_id = $2);

-- Read the variables of all players between two player ids.
-- name: between, texts_between {table: player_variables|player_texts}
SELECT player_id, variable_id, type, value FROM {table}
WHERE player_id >= $1 AND player_id <= $2 ORDER BY player_id, variable_id;

-- name: save
INSERT INTO player_variables (player_id, variable_id, type, value)
SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'variable_id' AS {guid}),
       value->>'type', CAST(value->>'value' AS {long})
FROM json_each($1) WHERE true
ON CONFLICT (player_id, variable_id) DO UPDATE SET type = excluded.type, value = excluded.value;

-- name: clear
DELETE FROM player_variables
WHERE player_id = $1 AND variable_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($2));

-- Insert many variables; the values are in the order of AssignedVariable.
-- name: load, load_texts {table: player_variables|player_texts}
INSERT INTO {table} (player_id, variable_id, type, value) VALUES ($1, $2, $3, $4);

-- name: insert_texts
INSERT INTO player_texts (player_id, variable_id, type, value)
SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'variable_id' AS {guid}), value->>'type', value->>'value'
FROM json_each($1);

-- name: of_person
SELECT t.player_id, t.variable_id, t.type, t.value FROM players p JOIN player_texts t ON t.player_id = p.id
WHERE p.user_id = $1 ORDER BY p.created_at, p.id, t.variable_id;
