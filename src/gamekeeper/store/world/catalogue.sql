-- Serialises writes of one kind of entries, so that the compared entries are the ones that are overwritten.
-- name: hold (sqlite)
SELECT $1;

-- name: hold (postgres)
SELECT pg_advisory_xact_lock(hashtext('catalogue'), hashtext($1));

-- name: item
SELECT id, name, stackable, max_stack, bag_slots, icon FROM items WHERE id = $1;

-- name: item_named
SELECT id FROM items WHERE name = $1 ORDER BY id LIMIT 1;

-- name: variable_named
SELECT id FROM variables WHERE name = $1 ORDER BY id LIMIT 1;

-- name: items_by_id
SELECT id, name, stackable, max_stack, bag_slots, icon FROM items
WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: items
SELECT id, name, stackable, max_stack, bag_slots, icon FROM items ORDER BY name, id LIMIT $1 OFFSET $2;

-- Names that contain the text: exact matches first, then prefix matches. Without LIKE, so nothing has to be escaped.
-- name: items_called
SELECT id, name, stackable, max_stack, bag_slots, icon FROM items WHERE replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: count_items
SELECT COUNT(*) FROM items;

-- name: any_item
SELECT 1 FROM items LIMIT 1;

-- name: save_items
INSERT INTO items (id, name, stackable, max_stack, bag_slots, icon, details)
SELECT CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'stackable' AS {boolean}),
       CAST(value->>'max_stack' AS INTEGER), CAST(value->>'bag_slots' AS INTEGER), value->>'icon',
       CAST(value->>'details' AS {json})
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, stackable = excluded.stackable, max_stack = excluded.max_stack,
    bag_slots = excluded.bag_slots, icon = excluded.icon, details = excluded.details;

-- name: item_details
SELECT r.id, r.details
FROM json_each($1) AS given, {each} items r WHERE r.id = CAST(given.value->>'id' AS {guid}) AND r.details IS NOT NULL {end_each};

-- name: spell
SELECT id, name FROM spells WHERE id = $1;

-- name: spells_by_id
SELECT id, name FROM spells WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: spells
SELECT id, name FROM spells ORDER BY name, id LIMIT $1 OFFSET $2;

-- name: spells_called
SELECT id, name FROM spells WHERE replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: count_spells
SELECT COUNT(*) FROM spells;

-- name: any_spell
SELECT 1 FROM spells LIMIT 1;

-- name: save_spells
INSERT INTO spells (id, name, details)
SELECT CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'details' AS {json}) FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name, details = excluded.details;

-- name: spell_details
SELECT r.id, r.details
FROM json_each($1) AS given, {each} spells r WHERE r.id = CAST(given.value->>'id' AS {guid}) AND r.details IS NOT NULL {end_each};

-- name: variable
SELECT id, name, type FROM variables WHERE id = $1;

-- name: variables_by_id
SELECT id, name, type FROM variables WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: variables
SELECT id, name, type FROM variables ORDER BY name, id LIMIT $1 OFFSET $2;

-- name: variables_called
SELECT id, name, type FROM variables WHERE replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: count_variables
SELECT COUNT(*) FROM variables;

-- name: any_variable
SELECT 1 FROM variables LIMIT 1;

-- name: save_variables
INSERT INTO variables (id, name, type, details)
SELECT CAST(value->>'id' AS {guid}), value->>'name', value->>'type', CAST(value->>'details' AS {json})
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name, type = excluded.type, details = excluded.details;

-- name: variable_details
SELECT r.id, r.details
FROM json_each($1) AS given, {each} variables r WHERE r.id = CAST(given.value->>'id' AS {guid}) AND r.details IS NOT NULL {end_each};

-- name: server_variables_by_id
SELECT id, name, type, text_id, folder, created_at, value FROM server_variables
WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: server_variables
SELECT id, name, type, text_id, folder, created_at, value FROM server_variables ORDER BY name, id LIMIT $1 OFFSET $2;

-- name: server_variables_called
SELECT id, name, type, text_id, folder, created_at, value FROM server_variables WHERE replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: count_server_variables
SELECT COUNT(*) FROM server_variables;

-- The value that a game publishes is taken only if the variable was never set.
-- name: save_server_variables
INSERT INTO server_variables (id, name, type, text_id, folder, created_at, value)
SELECT CAST(value->>'id' AS {guid}), value->>'name', value->>'type', value->>'text_id', value->>'folder',
       CAST(value->>'created_at' AS {long}), value->>'value'
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, type = excluded.type, text_id = excluded.text_id, folder = excluded.folder,
    created_at = excluded.created_at, value = COALESCE(server_variables.value, excluded.value);

-- name: guild_variables_by_id
SELECT id, name, type, text_id, folder, created_at FROM guild_variables
WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: guild_variables
SELECT id, name, type, text_id, folder, created_at FROM guild_variables ORDER BY name, id LIMIT $1 OFFSET $2;

-- name: guild_variables_called
SELECT id, name, type, text_id, folder, created_at FROM guild_variables WHERE replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: count_guild_variables
SELECT COUNT(*) FROM guild_variables;

-- name: save_guild_variables
INSERT INTO guild_variables (id, name, type, text_id, folder, created_at)
SELECT CAST(value->>'id' AS {guid}), value->>'name', value->>'type', value->>'text_id', value->>'folder',
       CAST(value->>'created_at' AS {long})
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, type = excluded.type, text_id = excluded.text_id, folder = excluded.folder,
    created_at = excluded.created_at;

-- name: classes_by_id
SELECT id, name FROM classes WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: classes
SELECT id, name FROM classes ORDER BY name, id LIMIT $1 OFFSET $2;

-- name: classes_called
SELECT id, name FROM classes WHERE replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: count_classes
SELECT COUNT(*) FROM classes;

-- name: any_class
SELECT 1 FROM classes LIMIT 1;

-- name: save_classes
INSERT INTO classes (id, name, details)
SELECT CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'details' AS {json}) FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name, details = excluded.details;

-- name: class_details
SELECT r.id, r.details
FROM json_each($1) AS given, {each} classes r WHERE r.id = CAST(given.value->>'id' AS {guid}) AND r.details IS NOT NULL {end_each};

-- name: maps_by_id
SELECT id, name FROM maps WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: maps
SELECT id, name FROM maps ORDER BY name, id LIMIT $1 OFFSET $2;

-- name: maps_called
SELECT id, name FROM maps WHERE replace(lower(name), CAST($1 AS TEXT), '') <> lower(name)
ORDER BY lower(name) = $1 DESC, substr(lower(name), 1, length($1)) = $1 DESC, name, id LIMIT $2;

-- name: count_maps
SELECT COUNT(*) FROM maps;

-- name: save_maps
INSERT INTO maps (id, name, details)
SELECT CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'details' AS {json}) FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name, details = excluded.details;

-- name: map_details
SELECT r.id, r.details
FROM json_each($1) AS given, {each} maps r WHERE r.id = CAST(given.value->>'id' AS {guid}) AND r.details IS NOT NULL {end_each};

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

-- name: object_details
SELECT r.id, r.details
FROM json_each($1) AS given
     CROSS JOIN {each} game_objects r
     WHERE r.type = $2 AND r.id = CAST(given.value->>'id' AS {guid}) AND r.details IS NOT NULL {end_each};

-- name: save_objects
INSERT INTO game_objects (type, id, name, details)
SELECT CAST($2 AS TEXT), CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'details' AS {json})
FROM json_each($1) WHERE true
ON CONFLICT (type, id) DO UPDATE SET name = excluded.name, details = excluded.details;

-- name: hash
SELECT hash FROM item_pictures WHERE item_id = $1;

-- name: hashes
SELECT r.item_id, r.hash
FROM json_each($1) AS given, {each} item_pictures r WHERE r.item_id = CAST(given.value->>'id' AS {guid}) {end_each};

-- Several items may have the same picture.
-- name: content
SELECT content FROM item_pictures WHERE hash = $1 LIMIT 1;

-- name: save
INSERT INTO item_pictures (item_id, hash, content) VALUES ($1, $2, $3)
ON CONFLICT (item_id) DO UPDATE SET hash = excluded.hash, content = excluded.content;

-- name: delete
DELETE FROM item_pictures WHERE item_id = $1;

-- name: count
SELECT COUNT(*) FROM server_variables;

-- name: page
SELECT id, name, type, text_id, folder, value, created_at FROM server_variables ORDER BY id LIMIT $1 OFFSET $2;

-- name: variable_server_variable
SELECT id, name, type, text_id, folder, value, created_at FROM server_variables WHERE id = $1;

-- name: lock
SELECT id, name, type, text_id, folder, value, created_at FROM server_variables WHERE id = $1 {for_update};

-- name: set_value
UPDATE server_variables SET value = $2 WHERE id = $1;

-- name: load
INSERT INTO server_variables (id, name, type, text_id, folder, value, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: known
SELECT id FROM server_variables WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));
