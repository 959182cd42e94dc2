-- name: known_of_players
SELECT player_id, kind FROM player_leftovers WHERE player_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: known_of_users
SELECT user_id, kind FROM user_leftovers WHERE user_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: known_of_guilds
SELECT guild_id, kind FROM guild_leftovers WHERE guild_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: load_of_players
INSERT INTO player_leftovers (player_id, kind, data) VALUES ($1, $2, $3);

-- name: load_of_users
INSERT INTO user_leftovers (user_id, kind, data) VALUES ($1, $2, $3);

-- name: load_of_guilds
INSERT INTO guild_leftovers (guild_id, kind, data) VALUES ($1, $2, $3);

-- name: of_person
SELECT user_id, kind, data FROM user_leftovers WHERE user_id = $1
UNION ALL
SELECT own.player_id, own.kind, own.data FROM players JOIN player_leftovers AS own ON own.player_id = players.id
WHERE players.user_id = $1 ORDER BY 1, 2;

-- name: of_player
SELECT player_id, kind, CAST(data AS TEXT) FROM player_leftovers WHERE player_id = $1 ORDER BY kind;

-- name: insert_of_player
INSERT INTO player_leftovers (player_id, kind, data)
SELECT CAST(value->>'owner_id' AS {guid}), value->>'kind', CAST(value->>'data' AS {json}) FROM json_each($1);
