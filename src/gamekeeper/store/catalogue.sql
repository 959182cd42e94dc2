-- Serialises writes of one kind of entries, so that the compared entries are the ones that are overwritten.
-- name: hold (sqlite)
SELECT $1;

-- name: hold (postgres)
SELECT pg_advisory_xact_lock(hashtext('catalogue'), hashtext($1));

-- name: item
SELECT id, name, stackable, max_stack, bag_slots, icon FROM items WHERE id = $1;

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
INSERT INTO items (id, name, stackable, max_stack, bag_slots, icon)
SELECT CAST(value->>'id' AS {guid}), value->>'name', CAST(value->>'stackable' AS {boolean}),
       CAST(value->>'max_stack' AS INTEGER), CAST(value->>'bag_slots' AS INTEGER), value->>'icon'
FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, stackable = excluded.stackable, max_stack = excluded.max_stack,
    bag_slots = excluded.bag_slots, icon = excluded.icon;

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
INSERT INTO spells (id, name)
SELECT CAST(value->>'id' AS {guid}), value->>'name' FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name;

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
INSERT INTO variables (id, name, type)
SELECT CAST(value->>'id' AS {guid}), value->>'name', value->>'type' FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name, type = excluded.type;

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
INSERT INTO classes (id, name)
SELECT CAST(value->>'id' AS {guid}), value->>'name' FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name;

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
INSERT INTO maps (id, name)
SELECT CAST(value->>'id' AS {guid}), value->>'name' FROM json_each($1) WHERE true
ON CONFLICT (id) DO UPDATE SET name = excluded.name;
