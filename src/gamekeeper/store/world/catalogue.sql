-- part: items_columns
id, name, stackable, max_stack, bag_slots, icon;

-- part: spells_columns, classes_columns, maps_columns
id, name;

-- part: variables_columns
id, name, type;

-- part: guild_variables_columns
id, name, type, text_id, folder, created_at;

-- part: server_variables_columns
id, name, type, text_id, folder, created_at, value;

-- Serialises writes of one kind of entries, so that the compared entries are the ones that are overwritten.
-- name: hold (sqlite)
SELECT $1;

-- name: hold (postgres)
SELECT pg_advisory_xact_lock(hashtext('catalogue'), hashtext($1));

-- name: item, spell, variable, guild_variable {table: items|spells|variables|guild_variables}
SELECT {{table}_columns} FROM {table} WHERE id = $1;

-- name: item_named, variable_named {table: items|variables}
SELECT id FROM {table} WHERE name = $1 ORDER BY id LIMIT 1;

-- name: items_by_id, spells_by_id, variables_by_id, server_variables_by_id, guild_variables_by_id, classes_by_id, maps_by_id
--   {table: items|spells|variables|server_variables|guild_variables|classes|maps}
SELECT {{table}_columns} FROM {table} WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: items, spells, variables, server_variables, guild_variables, classes, maps
SELECT {{name}_columns} FROM {name} ORDER BY name, id LIMIT $1 OFFSET $2;

-- Names that contain the text: exact matches first, then prefix matches. Without LIKE, so nothing has to be escaped.
-- name: items_called, spells_called, variables_called, server_variables_called, guild_variables_called, classes_called,
--   maps_called
--   {table: items|spells|variables|server_variables|guild_variables|classes|maps}
SELECT {{table}_columns} FROM {table} WHERE replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: count_items, count_spells, count_variables, count_server_variables, count_guild_variables, count_classes, count_maps
--   {table: items|spells|variables|server_variables|guild_variables|classes|maps}
SELECT COUNT(*) FROM {table};

-- name: any_item, any_spell, any_variable, any_class {table: items|spells|variables|classes}
SELECT 1 FROM {table} LIMIT 1;

-- name: save_items
INSERT INTO items (id, name, stackable, max_stack, bag_slots, icon, details)
SELECT CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'stackable' AS {boolean}),
       CAST(value->>'max_stack' AS INTEGER), CAST(value->>'bag_slots' AS INTEGER), value->>'icon',
       CAST(value->>'details' AS {json})
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, stackable = excluded.stackable, max_stack = excluded.max_stack,
    bag_slots = excluded.bag_slots, icon = excluded.icon, details = excluded.details;

-- name: items_details, spells_details, variables_details, classes_details, maps_details
--   {table: items|spells|variables|classes|maps}
SELECT r.id, CAST(r.details AS TEXT)
FROM json_each($1) AS given, {each} {table} r WHERE r.id = CAST(given.value->>'id' AS {guid}) AND r.details IS NOT NULL {end_each};

-- name: save_spells, save_classes, save_maps {table: spells|classes|maps}
INSERT INTO {table} (id, name, details)
SELECT CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'details' AS {json}) FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name, details = excluded.details;

-- name: save_variables
INSERT INTO variables (id, name, type, details)
SELECT CAST(value->>'id' AS {guid}), value->>'name', value->>'type', CAST(value->>'details' AS {json})
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name, type = excluded.type, details = excluded.details;

-- The value that a game publishes is taken only if the variable was never set.
-- name: save_server_variables
INSERT INTO server_variables (id, name, type, text_id, folder, created_at, value)
SELECT CAST(value->>'id' AS {guid}), value->>'name', value->>'type', value->>'text_id', value->>'folder',
       CAST(value->>'created_at' AS {long}), value->>'value'
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, type = excluded.type, text_id = excluded.text_id, folder = excluded.folder,
    created_at = excluded.created_at, value = COALESCE(server_variables.value, excluded.value);

-- name: load_server_variables
INSERT INTO server_variables (id, name, type, text_id, folder, created_at, value) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: load_guild_variables
INSERT INTO guild_variables (id, name, type, text_id, folder, created_at) VALUES ($1, $2, $3, $4, $5, $6);

-- name: save_guild_variables
INSERT INTO guild_variables (id, name, type, text_id, folder, created_at)
SELECT CAST(value->>'id' AS {guid}), value->>'name', value->>'type', value->>'text_id', value->>'folder',
       CAST(value->>'created_at' AS {long})
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, type = excluded.type, text_id = excluded.text_id, folder = excluded.folder,
    created_at = excluded.created_at;

-- name: count_objects
SELECT COUNT(*) FROM game_objects WHERE type = $1;

-- name: objects
SELECT id, name FROM game_objects WHERE type = $3 ORDER BY name, id LIMIT $1 OFFSET $2;

-- name: objects_called
SELECT id, name FROM game_objects WHERE type = $3 AND replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: objects_by_id
SELECT r.id, r.name
FROM json_each($1) AS given CROSS JOIN {each} game_objects r WHERE r.type = $2 AND r.id = CAST(given.value->>'id' AS {guid}) {end_each};

-- name: objects_details
SELECT r.id, CAST(r.details AS TEXT)
FROM json_each($1) AS given
     CROSS JOIN {each} game_objects r
     WHERE r.type = $2 AND r.id = CAST(given.value->>'id' AS {guid}) AND r.details IS NOT NULL {end_each};

-- name: save_objects
INSERT INTO game_objects (type, id, name, details)
SELECT CAST($2 AS TEXT), CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'details' AS {json})
FROM json_each($1) WHERE true
ON CONFLICT (type, id) DO UPDATE SET name = excluded.name, details = excluded.details;

-- name: picture_hash
SELECT hash FROM item_pictures WHERE item_id = $1;

-- name: picture_hashes
SELECT r.item_id, r.hash
FROM json_each($1) AS given, {each} item_pictures r WHERE r.item_id = CAST(given.value->>'id' AS {guid}) {end_each};

-- Several items may have the same picture.
-- name: picture_content
SELECT content FROM item_pictures WHERE hash = $1 LIMIT 1;

-- name: save_picture
INSERT INTO item_pictures (item_id, hash, content) VALUES ($1, $2, $3)
ON CONFLICT (item_id) DO UPDATE SET hash = excluded.hash, content = excluded.content;

-- name: delete_picture
DELETE FROM item_pictures WHERE item_id = $1;

-- name: server_variables_by_place
SELECT {server_variables_columns} FROM server_variables ORDER BY id LIMIT $1 OFFSET $2;

-- name: server_variable
SELECT {server_variables_columns} FROM server_variables WHERE id = $1;

-- name: lock_server_variable
SELECT {server_variables_columns} FROM server_variables WHERE id = $1 {for_update};

-- Set the value, as JSON; None: as if never set.
-- name: set_server_variable
UPDATE server_variables SET value = $2 WHERE id = $1;

-- name: known_server_variables
SELECT id FROM server_variables WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));
