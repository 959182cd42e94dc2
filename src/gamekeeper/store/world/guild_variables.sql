-- name: declared
SELECT id, name, type, text_id, folder, created_at FROM guild_variables WHERE id = $1;

-- name: any_declared
SELECT 1 FROM guild_variables LIMIT 1;

-- name: load
INSERT INTO guild_variables (id, name, type, text_id, folder, created_at) VALUES ($1, $2, $3, $4, $5, $6);

-- name: of_guild
SELECT o.variable_id, COALESCE(v.name, ''), o.type, o.value
FROM guild_values o LEFT JOIN guild_variables v ON v.id = o.variable_id
WHERE o.guild_id = $1 ORDER BY o.variable_id;

-- name: of_guild_one
SELECT o.variable_id, COALESCE(v.name, ''), o.type, o.value
FROM guild_values o LEFT JOIN guild_variables v ON v.id = o.variable_id
WHERE o.guild_id = $1 AND o.variable_id = $2;

-- name: save_values
INSERT INTO guild_values (guild_id, variable_id, type, value)
SELECT CAST(value->>'guild_id' AS {guid}), CAST(value->>'variable_id' AS {guid}), value->>'type', value->>'value'
FROM json_each($1) WHERE {true}
ON CONFLICT (guild_id, variable_id) DO UPDATE SET type = excluded.type, value = excluded.value;

-- name: clear_values
DELETE FROM guild_values
WHERE guild_id = $1 AND variable_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($2));

-- name: load_values
INSERT INTO guild_values (guild_id, variable_id, type, value) VALUES ($1, $2, $3, $4);

-- name: known
SELECT id FROM guild_variables WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));
