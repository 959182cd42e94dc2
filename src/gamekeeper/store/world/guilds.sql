-- name: guild
SELECT id, name, founded_at, bank_slots, instance_id, members FROM guilds WHERE id = $1;

-- name: lock_all (sqlite)
SELECT r.id, r.name, r.founded_at, r.bank_slots, r.instance_id, r.members
FROM json_each($1) AS given CROSS JOIN guilds r WHERE r.id = given.value->>'id';

-- name: lock_all (postgres)
SELECT id, name, founded_at, bank_slots, instance_id, members FROM guilds
WHERE id = ANY(ARRAY(SELECT CAST(value->>'id' AS uuid) FROM json_each($1))) ORDER BY id FOR UPDATE;

-- Lock these players in the order of presence and erasures; return those who exist.
-- name: lock_players (sqlite)
SELECT r.id FROM json_each($1) AS given CROSS JOIN players r WHERE r.id = given.value->>'id';

-- name: lock_players (postgres)
SELECT r.id FROM players r WHERE r.id = ANY(ARRAY(SELECT CAST(value->>'id' AS uuid) FROM json_each($1)))
ORDER BY r.user_id, r.created_at, r.id FOR UPDATE;

-- The number of guilds, counted up to a limit.
-- name: count
SELECT COUNT(*) FROM (SELECT 1 FROM guilds LIMIT $1) AS counted;

-- name: by_name, by_name_desc, by_members, by_members_desc, by_founding, by_founding_desc
--   {order: fold, id|fold DESC, id DESC|members, fold, id|members DESC, fold DESC, id DESC|founded_at, fold, id|founded_at DESC, fold DESC, id DESC}
SELECT id, name, founded_at, bank_slots, instance_id, members FROM guilds ORDER BY {order} LIMIT $1 OFFSET $2;

-- Guilds whose name contains the folded text, of the first $2 by name. Without LIKE, so nothing has to be escaped.
-- name: called
SELECT id, name, founded_at, bank_slots, instance_id, members, fold
FROM (SELECT id, name, founded_at, bank_slots, instance_id, members, fold FROM guilds
      ORDER BY fold, id LIMIT $2) AS listed
WHERE replace(fold, CAST($1 AS TEXT), '') <> fold LIMIT $3;

-- Insert a new guild. If another transaction did so first, this one is run again.
-- name: insert
INSERT INTO guilds (id, name, fold, founded_at, bank_slots, instance_id) VALUES ($1, $2, $3, $4, $5, $6);

-- name: save
INSERT INTO guilds (id, name, fold, founded_at, bank_slots, instance_id) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, fold = excluded.fold, founded_at = excluded.founded_at, bank_slots = excluded.bank_slots,
    instance_id = excluded.instance_id;

-- Delete a guild with its members' rows and its variables.
-- name: delete
DELETE FROM guilds WHERE id = $1;

-- Insert many guilds; the values are in the order of GuildColumns.
-- name: load
INSERT INTO guilds (id, name, fold, founded_at, bank_slots, instance_id) VALUES ($1, $2, $3, $4, $5, $6);

-- Insert many members, in the order of GuildMember. In a bulk load of lists, `recount` their guilds afterwards.
-- name: load_members
INSERT INTO guild_members (player_id, guild_id, rank, joined_at) VALUES ($1, $2, $3, $4);

-- name: recount
UPDATE guilds SET members = (SELECT COUNT(*) FROM guild_members m WHERE m.guild_id = guilds.id)
WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: members
SELECT player_id, guild_id, rank, joined_at FROM guild_members WHERE guild_id = $1 ORDER BY rank, player_id;

-- Members of a guild with what their list is sorted by: the first $2 by rank.
-- name: roster
SELECT r.id, r.fold, r.level, r.exp, r.created_at, r.play_time, m.rank
FROM (SELECT player_id, rank FROM guild_members WHERE guild_id = $1 ORDER BY rank, player_id LIMIT $2) AS m,
     {each} players r WHERE r.id = m.player_id {end_each};

-- name: memberships
SELECT r.player_id, r.guild_id, r.rank, r.joined_at
FROM json_each($1) AS wanted, {each} guild_members r WHERE r.player_id = CAST(value->>'id' AS {guid}) {end_each};

-- name: save_members
INSERT INTO guild_members (player_id, guild_id, rank, joined_at)
SELECT CAST(value->>'player_id' AS {guid}), CAST(value->>'guild_id' AS {guid}),
       CAST(value->>'rank' AS INTEGER), CAST(value->>'joined_at' AS {long})
FROM json_each($1) WHERE {true}
ON CONFLICT (player_id) DO UPDATE SET guild_id = excluded.guild_id, rank = excluded.rank, joined_at = excluded.joined_at;

-- name: delete_members
DELETE FROM guild_members WHERE player_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- Guilds whose number of members is not that of their rows.
-- name: miscounted
SELECT g.id, g.name, g.members, (SELECT COUNT(*) FROM guild_members m WHERE m.guild_id = g.id) AS counted FROM guilds g
WHERE g.members <> (SELECT COUNT(*) FROM guild_members m WHERE m.guild_id = g.id) ORDER BY g.id;

-- name: known
SELECT id FROM guilds WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- Find the names of guilds by id. A deleted guild has none.
-- name: names
SELECT id, name FROM guilds WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: known_folds
SELECT DISTINCT fold FROM guilds WHERE fold IN (SELECT value->>'fold' FROM json_each($1));

-- A player who is restored is a member again, if the guild still exists.
-- name: restore_member
INSERT INTO guild_members (player_id, guild_id, rank, joined_at)
SELECT CAST($1 AS {guid}), g.id, CAST($3 AS INTEGER), CAST($4 AS {long}) FROM guilds g WHERE g.id = CAST($2 AS {guid});

-- name: of_person
SELECT m.player_id, m.guild_id, g.name AS guild, m.rank, m.joined_at
FROM players p JOIN guild_members m ON m.player_id = p.id JOIN guilds g ON g.id = m.guild_id
WHERE p.user_id = $1 ORDER BY m.player_id;

-- name: values_of_guild
SELECT o.variable_id, COALESCE(v.name, ''), o.type, o.value
FROM guild_values o LEFT JOIN guild_variables v ON v.id = o.variable_id
WHERE o.guild_id = $1 ORDER BY o.variable_id;

-- name: value_of_guild
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

-- Insert many values; the values are in the order of GuildValue.
-- name: load_values
INSERT INTO guild_values (guild_id, variable_id, type, value) VALUES ($1, $2, $3, $4);

-- name: known_variables
SELECT id FROM guild_variables WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));
