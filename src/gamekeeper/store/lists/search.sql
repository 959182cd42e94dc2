-- The trigram index gives up to $3 candidates. A candidate may contain the trigrams in another order, so each row is
-- checked for the whole text. Text after a clash suffix (U+0001) is not searched.
-- name: players (sqlite)
SELECT p.id, p.fold, p.level, p.exp
FROM (SELECT rowid AS number FROM players_by_part
      WHERE players_by_part MATCH (SELECT group_concat('"' || replace(value->>'part', '"', '""') || '"', ' ')
                                   FROM json_each($1))
      LIMIT $3) AS candidate CROSS JOIN players p ON p.rowid = candidate.number
WHERE instr(p.fold, $2) BETWEEN 1 AND instr(p.fold || char(1), char(1))
LIMIT $4;

-- PostgreSQL reads all index entries of a trigram before it returns the first row. So each trigram is indexed by tier,
-- the number of zeros at the end of the id, and small tiers are read first: for a frequent trigram they give enough
-- candidates, and a rare trigram has few entries in all tiers.
-- name: players (postgres)
SELECT c.id, c.fold, c.level, c.exp
FROM (SELECT r.id, r.fold, r.level, r.exp
      FROM generate_series(5, 0, -1) AS tier,
           {each} players r
           WHERE search_parts(r.id, r.fold) @> ARRAY(SELECT tier || (value->>'part') FROM json_each($1)) {end_each}
      LIMIT $3) AS c
WHERE strpos(c.fold, $2) BETWEEN 1 AND strpos(c.fold || chr(1), chr(1))
LIMIT $4;

-- name: users (sqlite)
SELECT u.id, u.fold, u.email_fold
FROM (SELECT rowid AS number FROM users_by_part
      WHERE users_by_part MATCH (SELECT group_concat('"' || replace(value->>'part', '"', '""') || '"', ' ')
                                 FROM json_each($1))
      LIMIT $3) AS candidate CROSS JOIN users u ON u.rowid = candidate.number
WHERE instr(u.fold, $2) BETWEEN 1 AND instr(u.fold || char(1), char(1))
   OR instr(u.email_fold, $2) BETWEEN 1 AND instr(u.email_fold || char(1), char(1))
LIMIT $4;

-- name: users (postgres)
SELECT c.id, c.fold, c.email_fold
FROM (SELECT r.id, r.fold, r.email_fold
      FROM generate_series(5, 0, -1) AS tier,
           {each} users r
           WHERE search_parts(r.id, r.fold, r.email_fold)
                 @> ARRAY(SELECT tier || (value->>'part') FROM json_each($1)) {end_each}
      LIMIT $3) AS c
WHERE strpos(c.fold, $2) BETWEEN 1 AND strpos(c.fold || chr(1), chr(1))
   OR strpos(c.email_fold, $2) BETWEEN 1 AND strpos(c.email_fold || chr(1), chr(1))
LIMIT $4;

-- The newest bans in force, out of the $1 newest permanent bans and the $1 temporary bans that end last. The index skips
-- ended bans, however many there are.
-- name: banned, muted {table: bans|mutes}
SELECT r.id, r.fold, r.email_fold, newest.started_at
FROM (SELECT user_id, started_at
      FROM (SELECT * FROM (SELECT user_id, started_at FROM {table} WHERE ends_at IS NULL
                           ORDER BY ends_at DESC, started_at DESC LIMIT $1) AS for_good
            UNION ALL
            SELECT * FROM (SELECT user_id, started_at FROM {table} WHERE ends_at > {now}
                           ORDER BY ends_at DESC LIMIT $1) AS for_a_time) AS in_force
      ORDER BY started_at DESC LIMIT $2) AS newest, {each} users r WHERE r.id = newest.user_id {end_each};

-- The condition must be written exactly as in the partial index users_with_powers, or the index is not used.
-- name: powerful
SELECT id, fold, email_fold
FROM (SELECT * FROM (SELECT id, fold, email_fold FROM users
                     WHERE editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link
                     ORDER BY fold LIMIT $1) AS flagged
      UNION
      SELECT r.id, r.fold, r.email_fold
      FROM (SELECT * FROM (SELECT DISTINCT user_id FROM user_roles ORDER BY user_id LIMIT $1) AS with_roles
            UNION
            SELECT * FROM (SELECT DISTINCT user_id FROM user_permissions ORDER BY user_id LIMIT $1) AS granted) AS held,
           {each} users r WHERE r.id = held.user_id {end_each}) AS powerful
ORDER BY fold LIMIT $1;

-- name: powerful_among
SELECT r.id
FROM json_each($1) AS wanted, {each} users r WHERE r.id = CAST(value->>'id' AS {guid})
     AND (editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link
          OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = r.id)
          OR EXISTS (SELECT 1 FROM user_permissions d WHERE d.user_id = r.id)) {end_each};

-- Accounts with a role. The role api is a column of the accounts: its condition is that of the index users_with_powers.
-- name: with_role
SELECT r.id, r.fold, r.email_fold
FROM (SELECT user_id FROM user_roles WHERE role = $1 ORDER BY user_id LIMIT $2) AS held,
     {each} users r WHERE r.id = held.user_id {end_each}
UNION ALL
SELECT * FROM (SELECT id, fold, email_fold FROM users
               WHERE (editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link)
                 AND api AND CAST($1 AS TEXT) = 'api'
               ORDER BY fold LIMIT $2) AS flagged;

-- name: with_role_among
SELECT r.id
FROM json_each($1) AS wanted, {each} users r WHERE r.id = CAST(value->>'id' AS {guid})
     AND ((r.api AND CAST($2 AS TEXT) = 'api')
          OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = r.id AND h.role = $2)) {end_each};

-- Accounts of the $3 newest sign-ins in a range of times, each with the number of its sign-ins among them.
-- name: sign_ins
SELECT user_id, COUNT(*)
FROM (SELECT user_id FROM security_events WHERE kind = 'sign_in' AND at >= $1 AND at <= $2
      ORDER BY at DESC, id DESC LIMIT $3) AS newest
GROUP BY user_id;

-- name: last_sign_ins
SELECT wanted.value->>'id', (SELECT MAX(s.at) FROM security_events s
                             WHERE s.user_id = CAST(wanted.value->>'id' AS {guid}) AND s.kind = 'sign_in')
FROM json_each($1) AS wanted;

-- name: users_among
SELECT r.id, r.fold, r.email_fold
FROM json_each($1) AS wanted, {each} users r WHERE r.id = CAST(value->>'id' AS {guid}) {end_each};

-- The search index is missing during a bulk load.
-- name: indexed (sqlite)
SELECT COUNT(*) = 2 FROM sqlite_master WHERE name IN ('players_by_part', 'users_by_part');

-- name: indexed (postgres)
SELECT to_regclass('players_by_part') IS NOT NULL AND to_regclass('users_by_part') IS NOT NULL;

-- name: online_among
SELECT r.player_id
FROM json_each($1) AS wanted, {each} presence r WHERE r.player_id = CAST(value->>'id' AS {guid}) {end_each};

-- Players and accounts whose name or email starts with one of these prefixes: up to $2 for each prefix, $3 in total.
-- name: players_start (sqlite)
SELECT r.id, r.name, r.fold, r.level
FROM json_each($1) AS begins CROSS JOIN players r
WHERE r.rowid IN (SELECT rowid FROM players WHERE fold >= begins.value->>'from' AND fold < begins.value->>'to'
                  ORDER BY fold LIMIT $2)
LIMIT $3;

-- name: players_start (postgres)
SELECT r.id, r.name, r.fold, r.level
FROM json_each($1) AS begins,
     LATERAL (SELECT id, name, fold, level FROM players WHERE fold >= begins.value->>'from' AND fold < begins.value->>'to'
              ORDER BY fold LIMIT $2) AS r
LIMIT $3;

-- name: users_start, emails (sqlite) {fold: fold|email_fold}
SELECT r.id, r.name, r.{fold}, r.email FROM json_each($1) AS begins CROSS JOIN users r
WHERE r.rowid IN (SELECT rowid FROM users WHERE {fold} >= begins.value->>'from' AND {fold} < begins.value->>'to'
                  ORDER BY {fold} LIMIT $2)
LIMIT $3;

-- name: users_start, emails (postgres) {fold: fold|email_fold}
SELECT r.id, r.name, r.{fold}, r.email FROM json_each($1) AS begins,
     LATERAL (SELECT id, name, {fold}, email FROM users WHERE {fold} >= begins.value->>'from' AND {fold} < begins.value->>'to'
              ORDER BY {fold} LIMIT $2) AS r
LIMIT $3;

-- Without an index: the catalogue does not grow with the number of players.
-- name: catalogue
SELECT 'item' AS kind, id, name FROM items WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
UNION ALL SELECT 'spell', id, name FROM spells WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
UNION ALL SELECT 'variable', id, name FROM variables WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
UNION ALL SELECT 'class', id, name FROM classes WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
UNION ALL SELECT 'map', id, name FROM maps WHERE lower(name {bytewise}) LIKE $1 ESCAPE '!'
ORDER BY kind, name, id LIMIT $2;

-- The player, account or catalogue entry with an id; for a bag's id, its owner.
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

-- A view with the same name is replaced.
-- name: save
INSERT INTO saved_views (id, user_id, list, name, query, shared, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (user_id, list, name) DO UPDATE SET query = excluded.query, shared = excluded.shared;

-- The views of an account, without the one of this list and name.
-- name: count_others
SELECT COUNT(*) FROM saved_views WHERE user_id = $1 AND NOT (list = $2 AND name = $3);

-- The views of an account, and those that others share.
-- name: of_viewer
SELECT * FROM (SELECT id, user_id, name, query, shared FROM saved_views
               WHERE user_id = $1 AND list = $2 ORDER BY name LIMIT $3) AS own
UNION ALL
SELECT * FROM (SELECT id, user_id, name, query, shared FROM saved_views
               WHERE shared AND list = $2 AND user_id <> $1 ORDER BY name, id LIMIT $3) AS others;

-- name: is_shared
SELECT 1 FROM saved_views WHERE id = $1 AND user_id = $2 AND shared;

-- name: rename
UPDATE saved_views SET name = $3 WHERE id = $1 AND user_id = $2;

-- Another view of the same list that has the name $3 already.
-- name: same_name
SELECT 1 FROM saved_views v, saved_views o
WHERE v.id = $1 AND v.user_id = $2 AND o.user_id = $2 AND o.list = v.list AND o.name = $3 AND o.id <> v.id;

-- An own view; $3: also one that another account shares.
-- name: delete
DELETE FROM saved_views WHERE id = $1 AND (user_id = $2 OR (shared AND $3));

-- name: of_person
SELECT list, name, query, shared, created_at FROM saved_views WHERE user_id = $1 ORDER BY list, name;
