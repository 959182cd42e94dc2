-- Players and accounts whose name or email starts with one of these prefixes: up to $2 for each prefix, $3 in total.
-- name: players (sqlite)
SELECT r.id, r.name, r.fold, r.level
FROM json_each($1) AS begins CROSS JOIN players r
WHERE r.rowid IN (SELECT rowid FROM players WHERE fold >= begins.value->>'from' AND fold < begins.value->>'to'
                  ORDER BY fold LIMIT $2)
LIMIT $3;

-- name: players (postgres)
SELECT r.id, r.name, r.fold, r.level
FROM json_each($1) AS begins,
     LATERAL (SELECT id, name, fold, level FROM players WHERE fold >= begins.value->>'from' AND fold < begins.value->>'to'
              ORDER BY fold LIMIT $2) AS r
LIMIT $3;

-- name: users (sqlite)
SELECT r.id, r.name, r.fold, r.email
FROM json_each($1) AS begins CROSS JOIN users r
WHERE r.rowid IN (SELECT rowid FROM users WHERE fold >= begins.value->>'from' AND fold < begins.value->>'to'
                  ORDER BY fold LIMIT $2)
LIMIT $3;

-- name: users (postgres)
SELECT r.id, r.name, r.fold, r.email
FROM json_each($1) AS begins,
     LATERAL (SELECT id, name, fold, email FROM users WHERE fold >= begins.value->>'from' AND fold < begins.value->>'to'
              ORDER BY fold LIMIT $2) AS r
LIMIT $3;

-- name: emails (sqlite)
SELECT r.id, r.name, r.email_fold, r.email
FROM json_each($1) AS begins CROSS JOIN users r
WHERE r.rowid IN (SELECT rowid FROM users WHERE email_fold >= begins.value->>'from' AND email_fold < begins.value->>'to'
                  ORDER BY email_fold LIMIT $2)
LIMIT $3;

-- name: emails (postgres)
SELECT r.id, r.name, r.email_fold, r.email
FROM json_each($1) AS begins,
     LATERAL (SELECT id, name, email_fold, email FROM users
              WHERE email_fold >= begins.value->>'from' AND email_fold < begins.value->>'to'
              ORDER BY email_fold LIMIT $2) AS r
LIMIT $3;

-- Without an index: the catalogue does not grow with the number of players.
-- name: catalogue
SELECT 'item' AS kind, id, name FROM items WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
UNION ALL SELECT 'spell', id, name FROM spells WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
UNION ALL SELECT 'variable', id, name FROM variables WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
UNION ALL SELECT 'class', id, name FROM classes WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
UNION ALL SELECT 'map', id, name FROM maps WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
ORDER BY kind, name, id LIMIT $2;

-- name: by_id
SELECT 'player' AS kind, id, name FROM players WHERE id = $1
UNION ALL SELECT 'user', id, name FROM users WHERE id = $1
UNION ALL SELECT 'bag', p.id, p.name FROM bags b JOIN players p ON p.id = b.player_id WHERE b.id = $1
UNION ALL SELECT 'item', id, name FROM items WHERE id = $1
UNION ALL SELECT 'spell', id, name FROM spells WHERE id = $1
UNION ALL SELECT 'variable', id, name FROM variables WHERE id = $1
UNION ALL SELECT 'class', id, name FROM classes WHERE id = $1
UNION ALL SELECT 'map', id, name FROM maps WHERE id = $1;

-- Players and accounts by the start of their id: a range of ids.
-- name: by_id_range
SELECT kind, id, name FROM
  (SELECT 'player' AS kind, id, name FROM players WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3) AS p
UNION ALL SELECT kind, id, name FROM
  (SELECT 'user' AS kind, id, name FROM users WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3) AS u;

-- What had this id, if its newest change is its deletion; with its state before that.
-- name: deleted
SELECT 'player' AS what, before
FROM (SELECT kind, before FROM masked_ledger WHERE player_id = $1 ORDER BY seq DESC LIMIT 1) AS last_of_player
WHERE kind = 'player_deleted'
UNION ALL
SELECT 'user', before
FROM (SELECT kind, before FROM masked_ledger WHERE user_id = $1 ORDER BY seq DESC LIMIT 1) AS last_of_user
WHERE kind = 'user_deleted';
