-- name: known
SELECT slot, spell_id FROM known_spells WHERE player_id = $1 ORDER BY slot;

-- name: save
INSERT INTO known_spells (player_id, slot, spell_id)
SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'slot' AS INTEGER), CAST(value->>'spell_id' AS {guid})
FROM json_each($1) WHERE true
ON CONFLICT (player_id, slot) DO UPDATE SET spell_id = excluded.spell_id;

-- name: load
INSERT INTO known_spells (player_id, slot, spell_id) VALUES ($1, $2, $3);

-- name: clear
DELETE FROM known_spells
WHERE player_id = $1 AND slot IN (SELECT CAST(value->>'slot' AS INTEGER) FROM json_each($2));

-- name: between
SELECT player_id, slot, spell_id FROM known_spells WHERE player_id >= $1 AND player_id <= $2 ORDER BY player_id, slot;

-- name: beyond
SELECT COUNT(*) FROM known_spells WHERE slot >= $1;
