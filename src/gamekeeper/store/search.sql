-- Whoever has all the parts may have them in another order: that is looked at row by row. What is hidden is not found.
-- name: players (sqlite)
SELECT p.id, p.fold, p.level, p.exp
FROM players_by_part AS part CROSS JOIN players p ON p.rowid = part.rowid
WHERE part.players_by_part MATCH (SELECT group_concat('"' || replace(value->>'part', '"', '""') || '"', ' ')
                                  FROM json_each($1))
  AND instr(p.fold, $2) BETWEEN 1 AND instr(p.fold || char(1), char(1))
LIMIT $3;

-- PostgreSQL gathers all that the index has of a part before it looks at the first. So the few whose ids end with many
-- zeros are asked first: of what everybody has these are enough, and what they have too little of, nobody has much of.
-- name: players (postgres)
SELECT r.id, r.fold, r.level, r.exp
FROM generate_series(5, 0, -1) AS tier,
     {each} players r WHERE search_parts(r.id, r.fold) @> ARRAY(SELECT tier || (value->>'part') FROM json_each($1))
       AND strpos(r.fold, $2) BETWEEN 1 AND strpos(r.fold || chr(1), chr(1)) {end_each}
LIMIT $3;

-- name: users (sqlite)
SELECT u.id, u.fold, u.email_fold
FROM users_by_part AS part CROSS JOIN users u ON u.rowid = part.rowid
WHERE part.users_by_part MATCH (SELECT group_concat('"' || replace(value->>'part', '"', '""') || '"', ' ')
                                FROM json_each($1))
  AND (instr(u.fold, $2) BETWEEN 1 AND instr(u.fold || char(1), char(1))
       OR instr(u.email_fold, $2) BETWEEN 1 AND instr(u.email_fold || char(1), char(1)))
LIMIT $3;

-- name: users (postgres)
SELECT r.id, r.fold, r.email_fold
FROM generate_series(5, 0, -1) AS tier,
     {each} users r
     WHERE search_parts(r.id, r.fold, r.email_fold) @> ARRAY(SELECT tier || (value->>'part') FROM json_each($1))
       AND (strpos(r.fold, $2) BETWEEN 1 AND strpos(r.fold || chr(1), chr(1))
            OR strpos(r.email_fold, $2) BETWEEN 1 AND strpos(r.email_fold || chr(1), chr(1))) {end_each}
LIMIT $3;

-- The first so many of those online.
-- name: online
SELECT r.id, r.fold, r.level, r.exp
FROM (SELECT player_id FROM presence WHERE fold >= '' ORDER BY fold, player_id LIMIT $1) AS first,
     {each} players r WHERE r.id = first.player_id {end_each};

-- name: online_among
SELECT r.player_id
FROM json_each($1) AS wanted, {each} presence r WHERE r.player_id = CAST(value->>'id' AS {guid}) {end_each};
