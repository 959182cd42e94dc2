-- Look-up by name: among names with the same fold ($1 up to $3), prefer the one spelled exactly $2; otherwise use the
-- one that has the fold itself, without a clash suffix.
-- part: named
COALESCE((SELECT c.fold FROM players c WHERE c.fold >= $1 AND c.fold < $3 AND c.name = $2
          ORDER BY c.fold LIMIT 1), $1);

-- name: record_by_fold
SELECT document, class_name, map_name, online, last_online FROM player_records
WHERE fold = {named};

-- name: record_by_id
SELECT document, class_name, map_name, online, last_online FROM player_records WHERE id = $1;

-- name: records_of_user
SELECT document, class_name, map_name, online, last_online FROM player_records
WHERE user_id = $1 ORDER BY created_at, id;

-- name: other_names_of_user
SELECT name, (SELECT COUNT(*) FROM players WHERE user_id = $1) FROM players
WHERE user_id = $1 AND id <> $2 ORDER BY created_at, id LIMIT $3;

-- name: count
SELECT COUNT(*) FROM players;

-- name: records_of_ids
SELECT r.id, r.document, r.class_name, r.map_name, r.online, r.last_online
FROM json_each($1) AS wanted, {each} player_records r WHERE r.id = CAST(value->>'id' AS {guid}) {end_each};

-- name: summaries
SELECT r.id, r.name, r.fold, r.level
FROM json_each($1) AS wanted, {each} players r WHERE r.id = CAST(value->>'id' AS {guid}) {end_each};

-- A page of records: from a key on, skip $3 rows. SQLite finds the page's first key and reads on from there, in the
-- order of the index: a join with the page's keys would be sorted again. PostgreSQL looks up the page's rows one by one.
-- name: records_from_name (sqlite)
SELECT document, class_name, map_name, online, last_online FROM player_records
WHERE fold >= (SELECT fold FROM players WHERE fold >= $1 ORDER BY fold LIMIT 1 OFFSET $3)
ORDER BY fold LIMIT $2;

-- name: records_from_name (postgres)
SELECT r.document, r.class_name, r.map_name, r.online, r.last_online
FROM (SELECT fold FROM players WHERE fold >= $1 ORDER BY fold LIMIT $2 OFFSET $3) AS page,
     {each} player_records r WHERE r.fold = page.fold {end_each}
ORDER BY page.fold;

-- The plus signs remove the columns' affinity. With it, SQLite would use only the level of the page's first key.
-- name: records_from_rank (sqlite)
SELECT document, class_name, map_name, online, last_online FROM player_records
WHERE (level, exp, id) >= (SELECT +level, +exp, +id FROM players WHERE (level, exp, id) >= ($1, $2, $3)
                           ORDER BY level, exp, id LIMIT 1 OFFSET $5)
ORDER BY level, exp, id LIMIT $4;

-- name: records_from_rank (postgres)
SELECT r.document, r.class_name, r.map_name, r.online, r.last_online
FROM (SELECT level, exp, id FROM players WHERE (level, exp, id) >= ($1, $2, $3)
      ORDER BY level, exp, id LIMIT $4 OFFSET $5) AS page,
     {each} player_records r WHERE r.id = page.id {end_each}
ORDER BY page.level, page.exp, page.id;

-- name: keys_by_name
SELECT fold FROM players WHERE fold >= $1 ORDER BY fold LIMIT $2;

-- name: lows_by_name
SELECT fold FROM (SELECT fold, row_number() OVER (ORDER BY fold) AS n FROM players) AS numbered
WHERE n % $1 = 1 ORDER BY n;

-- name: lows_by_rank
SELECT level, exp, id
FROM (SELECT level, exp, id, row_number() OVER (ORDER BY level, exp, id) AS n FROM players) AS numbered
WHERE n % $1 = 1 ORDER BY n;

-- name: keys_by_rank
SELECT level, exp, id FROM players WHERE (level, exp, id) >= ($1, $2, $3) ORDER BY level, exp, id LIMIT $4;

-- A key with $4 neighbours on either side; each row also has the count of the bucket's rows before the key.
-- name: records_around_rank
SELECT bucket.before, page.level, page.exp, page.id,
       r.document, r.class_name, r.map_name, r.online, r.last_online
FROM (SELECT COUNT(*) AS before
      FROM (SELECT level, exp, id FROM players WHERE (level, exp, id) >= ($5, $6, $7)
            ORDER BY level, exp, id LIMIT $8) AS following
      WHERE (level, exp, id) < ($1, $2, $3)) AS bucket,
     (SELECT * FROM (SELECT level, exp, id FROM players WHERE (level, exp, id) >= ($1, $2, $3)
                     ORDER BY level, exp, id LIMIT $4 + 1) AS above
      UNION ALL
      SELECT * FROM (SELECT level, exp, id FROM players WHERE (level, exp, id) < ($1, $2, $3)
                     ORDER BY level DESC, exp DESC, id DESC LIMIT $4) AS below) AS page,
     {each} player_records r WHERE r.id = page.id {end_each}
ORDER BY page.level, page.exp, page.id;

-- name: rank_key_by_fold
SELECT level, exp, id FROM players
WHERE fold = {named};

-- name: rank_key_by_id
SELECT level, exp, id FROM players WHERE id = $1;

-- name: id_by_fold
SELECT id FROM players
WHERE fold = {named};

-- name: id_by_id
SELECT id FROM players WHERE id = $1;

-- name: hold_by_fold
SELECT id FROM players
WHERE fold = {named} {for_update};

-- name: hold_by_id
SELECT id FROM players WHERE id = CAST($1 AS {guid}) {for_update};

-- name: locked
SELECT id, user_id, document, created_at, last_online FROM players WHERE id = COALESCE($1, {locked});

-- name: lock_by_id
SELECT id, user_id, document, created_at, last_online FROM players WHERE id = $1 {for_update};

-- Waits for transactions that move or delete such players, and then leaves those players out.
-- name: lock_of_user
SELECT id FROM players WHERE user_id = $1 ORDER BY created_at, id {for_update};

-- name: insert
INSERT INTO players (id, user_id, name, fold, level, exp, class_id, map_id, created_at, last_online, document, play_time)
SELECT CAST(value->>'id' AS {guid}), CAST(value->>'user_id' AS {guid}), value->>'name', value->>'fold',
       CAST(value->>'level' AS INTEGER), CAST(value->>'exp' AS {long}),
       CAST(value->>'class_id' AS {guid}), CAST(value->>'map_id' AS {guid}),
       CAST(value->>'created_at' AS {long}), CAST(value->>'last_online' AS {long}),
       CAST(value->>'document' AS {document}), CAST(value->>'play_time' AS {long})
FROM json_each($1);

-- name: load
INSERT INTO players (id, user_id, name, fold, level, exp, class_id, map_id, created_at, last_online, document, play_time)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- Find one of these new players whose name or email is taken already; return its name.
-- name: name_taken
SELECT value->>'name' FROM json_each($1)
WHERE EXISTS (SELECT 1 FROM players WHERE fold = value->>'fold' AND id <> CAST(value->>'id' AS {guid}))
   OR EXISTS (SELECT 1 FROM users WHERE fold = value->>'fold' AND id <> CAST(value->>'user_id' AS {guid}))
   OR EXISTS (SELECT 1 FROM users WHERE email_fold = value->>'email_fold' AND id <> CAST(value->>'user_id' AS {guid}))
LIMIT 1;

-- name: known_folds
SELECT fold FROM players WHERE fold IN (SELECT value->>'fold' FROM json_each($1));

-- Unless the player is renamed ($13), its fold is kept: it may carry a clash suffix.
-- name: update
UPDATE players
SET user_id = $2, name = $3, fold = CASE WHEN $13 THEN $4 ELSE fold END, level = $5, exp = $6, class_id = $7, map_id = $8,
    created_at = $9, last_online = $10, document = $11, play_time = $12
WHERE id = $1;

-- name: delete
DELETE FROM players WHERE id = $1;

-- Read the next players in order of id, for doctor's checks of the whole table: id … play_time, document.
-- name: columns_after
SELECT id, user_id, name, fold, level, exp, class_id, map_id, created_at, play_time, document FROM players
WHERE id > $1 ORDER BY id LIMIT $2;

-- name: known_spells
SELECT slot, spell_id FROM known_spells WHERE player_id = $1 ORDER BY slot;

-- name: save_spells
INSERT INTO known_spells (player_id, slot, spell_id)
SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'slot' AS INTEGER), CAST(value->>'spell_id' AS {guid})
FROM json_each($1) WHERE true
ON CONFLICT (player_id, slot) DO UPDATE SET spell_id = excluded.spell_id;

-- Insert many known spells; the values are in the order of KnownSpell.
-- name: load_spells
INSERT INTO known_spells (player_id, slot, spell_id) VALUES ($1, $2, $3);

-- name: clear_spells
DELETE FROM known_spells
WHERE player_id = $1 AND slot IN (SELECT CAST(value->>'slot' AS INTEGER) FROM json_each($2));

-- Read the known spells of all players between two player ids.
-- name: spells_between
SELECT player_id, slot, spell_id FROM known_spells WHERE player_id >= $1 AND player_id <= $2 ORDER BY player_id, slot;

-- Count known spells in slots beyond the configured size, from slot number `size` on.
-- name: count_spells_beyond
SELECT COUNT(*) FROM known_spells WHERE slot >= $1;
