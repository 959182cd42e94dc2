-- part: change
seq, at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason, undoes,
(SELECT u.name FROM users u WHERE u.id = l.actor_id), (SELECT p.name FROM players p WHERE p.id = l.player_id),
(SELECT u.name FROM users u WHERE u.id = l.user_id), seq > (SELECT trimmed FROM epoch), over_link, seq,
(SELECT k.name FROM api_keys k WHERE k.id = l.token_id), 0, {false}, {false};

-- Scans only the $2 changes before number $1, so that a filter with few matches does not make a request slow. Returns up
-- to $3 matches, newest first, and stops when their `before` and `after` exceed $15 characters. $17: whether the kinds $16
-- are wanted, or all others.
-- name: page
SELECT {change}
FROM (SELECT kept.*, COALESCE(LENGTH(CAST(before AS TEXT)), 0) + COALESCE(LENGTH(CAST(after AS TEXT)), 0) AS letters,
             SUM(COALESCE(LENGTH(CAST(before AS TEXT)), 0) + COALESCE(LENGTH(CAST(after AS TEXT)), 0))
                 OVER (ORDER BY seq DESC) AS so_far
      FROM (SELECT * FROM (
          SELECT * FROM (SELECT * FROM masked_ledger WHERE CAST($4 AS TEXT) = 'all' AND seq < $1
                         ORDER BY seq DESC LIMIT $2) AS of_all
          UNION ALL
          SELECT * FROM (SELECT * FROM masked_ledger WHERE CAST($4 AS TEXT) = 'player' AND player_id = $5 AND seq < $1
                         ORDER BY seq DESC LIMIT $2) AS of_player
          UNION ALL
          SELECT * FROM (SELECT * FROM masked_ledger WHERE CAST($4 AS TEXT) = 'user' AND user_id = $5 AND seq < $1
                         ORDER BY seq DESC LIMIT $2) AS of_user
          UNION ALL
          SELECT * FROM (SELECT * FROM masked_ledger
                         WHERE CAST($4 AS TEXT) = 'actor' AND actor_id = $5 AND NOT over_link AND seq < $1
                         ORDER BY seq DESC LIMIT $2) AS by_actor) AS looked_at
      WHERE ($6 OR (kind NOT LIKE 'user%' AND (user_id IS NULL OR player_id IS NOT NULL)))
        AND at >= $7 AND at <= $8
        AND (CAST($9 AS TEXT) IS NULL OR kind = $9)
        AND (CAST($10 AS TEXT) IS NULL OR request_id = $10)
        AND (CAST($11 AS TEXT) IS NULL OR lower(reason {bytewise}) LIKE $11 ESCAPE '!')
        AND (CAST($12 AS TEXT) IS NULL OR CAST(before AS TEXT) LIKE $12 OR CAST(after AS TEXT) LIKE $12)
        AND (CAST($13 AS {guid}) IS NULL OR user_id = $13)
        AND (CAST($14 AS {guid}) IS NULL OR (actor_id = $14 AND NOT over_link))
        AND (kind IN (SELECT value->>'kind' FROM json_each($16))) = $17
      ORDER BY seq DESC LIMIT $3) AS kept) AS l
WHERE so_far - letters < $15
ORDER BY seq DESC;

-- End of the scan by `page`: lowest number, latest time and count of the scanned changes.
-- name: reached
SELECT COALESCE(MIN(seq), 0), COALESCE(MAX(at), 0), COUNT(*)
FROM (SELECT * FROM (SELECT seq, at FROM ledger WHERE CAST($3 AS TEXT) = 'all' AND seq < $1
                     ORDER BY seq DESC LIMIT $2) AS of_all
      UNION ALL
      SELECT * FROM (SELECT seq, at FROM ledger WHERE CAST($3 AS TEXT) = 'player' AND player_id = $4 AND seq < $1
                     ORDER BY seq DESC LIMIT $2) AS of_player
      UNION ALL
      SELECT * FROM (SELECT seq, at FROM ledger WHERE CAST($3 AS TEXT) = 'user' AND user_id = $4 AND seq < $1
                     ORDER BY seq DESC LIMIT $2) AS of_user
      UNION ALL
      SELECT * FROM (SELECT seq, at FROM ledger
                     WHERE CAST($3 AS TEXT) = 'actor' AND actor_id = $4 AND NOT over_link AND seq < $1
                     ORDER BY seq DESC LIMIT $2) AS by_actor) AS l;

-- Of the $2 changes before number $1: the newest of each bulk job, and all others.
-- name: beside_jobs
SELECT MAX(seq) AS newest FROM (SELECT seq, request_id FROM ledger WHERE seq < $1 ORDER BY seq DESC LIMIT $2) AS l
GROUP BY CASE WHEN substr(request_id, 1, 5) = 'bulk-' THEN request_id ELSE CAST(seq AS TEXT) END
ORDER BY newest DESC LIMIT $3;

-- name: one
SELECT {change} FROM masked_ledger l WHERE seq = $1;

-- The undos of these changes, the undos of those undos, and so on.
-- name: undoing
WITH RECURSIVE chain (seq, undoes) AS (
    SELECT r.seq, r.undoes
    FROM json_each($1) AS given, {each} ledger r WHERE r.undoes = CAST(given.value->>'seq' AS {long}) {end_each}
    UNION
    SELECT r.seq, r.undoes FROM chain, {each} ledger r WHERE r.undoes = chain.seq {end_each})
SELECT seq, undoes FROM chain;

-- The change of the account to which each notice for the game belongs: the same request made it just before. Between the
-- two are at most $2 notices for other players of the account.
-- name: sources_of_notices
SELECT CAST(given.value->>'seq' AS {long}),
       (SELECT MAX(recent.seq)
        FROM (SELECT l.seq, l.kind, l.player_id, l.request_id FROM ledger l
              WHERE l.user_id = CAST(given.value->>'user_id' AS {guid}) AND l.seq < CAST(given.value->>'seq' AS {long})
              ORDER BY l.seq DESC LIMIT $2) AS recent
        WHERE recent.player_id IS NULL AND recent.kind = given.value->>'kind'
          AND recent.request_id = given.value->>'request_id')
FROM json_each($1) AS given;

-- The undo chain of each change: the change it undoes, the change that one undoes, down to the first.
-- name: origins
WITH RECURSIVE chain (seq, undoes, over_link) AS (
    SELECT r.seq, r.undoes, r.over_link
    FROM json_each($1) AS given, {each} ledger r WHERE r.seq = CAST(given.value->>'seq' AS {long}) {end_each}
    UNION
    SELECT r.seq, r.undoes, r.over_link FROM chain, {each} ledger r WHERE r.seq = chain.undoes {end_each})
SELECT seq, undoes, over_link, seq > (SELECT trimmed FROM epoch) FROM chain ORDER BY seq;

-- Changes of a player that can mention items, spells or variables, newest first, in a range of numbers.
-- name: back
SELECT seq, kind, before, after, request_id, at, over_link FROM masked_ledger
WHERE player_id = $1 AND seq < $2 AND seq > $3 AND kind <> 'player_changed' AND kind NOT LIKE 'user%'
ORDER BY seq DESC LIMIT $4;

-- The same changes as `back`, but only among the $3 changes of any kind before a number.
-- name: right_before
SELECT seq, kind, before, after, request_id, at, over_link
FROM (SELECT * FROM masked_ledger WHERE player_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3) AS looked_at
WHERE kind <> 'player_changed' AND kind NOT LIKE 'user%'
ORDER BY seq DESC;

-- The first change of a player after a number, except the numbers in $3.
-- name: following
SELECT seq FROM ledger
WHERE player_id = $1 AND seq > $2 AND seq NOT IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($3))
ORDER BY seq LIMIT 1;

-- The next $3 changes of a player after a number, oldest first; `before` only of those whose record had a field: $4 is
-- its name in JSON as a pattern.
-- name: record_before
SELECT seq, CASE WHEN kind IN ('player_changed', 'player_deleted') AND CAST(before AS TEXT) LIKE $4 THEN before END
FROM masked_ledger WHERE player_id = $1 AND seq > $2 ORDER BY seq LIMIT $3;

-- Changes that game servers reported for other players, in a range of numbers and times, that mention one of the items.
-- name: reported_of_others
SELECT seq, player_id, before, after, (SELECT p.name FROM players p WHERE p.id = l.player_id)
FROM masked_ledger l
WHERE seq >= $1 AND seq < $2 AND over_link AND player_id <> $3 AND at >= $4 AND at <= $5
  AND EXISTS (SELECT 1 FROM json_each($6) AS given WHERE CAST(after AS TEXT) LIKE '%' || (given.value->>'id') || '%')
ORDER BY seq;

-- The newest change of a player up to a time, among the player's $3 newest changes.
-- name: until
SELECT seq FROM (SELECT seq, at FROM ledger WHERE player_id = $1 ORDER BY seq DESC LIMIT $3) AS looked_at
WHERE at <= $2 ORDER BY seq DESC LIMIT 1;

-- name: any_until
SELECT seq FROM ledger WHERE player_id = $1 AND seq <= $2 LIMIT 1;

-- Count a player's changes after a number, up to $3, and how many of them `back` would return.
-- name: since
SELECT COUNT(*), COUNT(CASE WHEN kind <> 'player_changed' AND kind NOT LIKE 'user%' THEN 1 END)
FROM (SELECT kind FROM ledger WHERE player_id = $1 AND seq > $2 ORDER BY seq DESC LIMIT $3) AS looked_at;

-- The first change of one of these kinds to an account itself (not to its players) after a number.
-- name: of_account
SELECT seq FROM ledger
WHERE user_id = $1 AND seq > $2 AND player_id IS NULL AND kind IN (SELECT value->>'kind' FROM json_each($3))
  AND seq NOT IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($4))
ORDER BY seq LIMIT 1;

-- Which of these deleted players were erased: their account does not exist any more either.
-- name: erased
SELECT given.value->>'id' FROM json_each($1) AS given
WHERE (SELECT u.name FROM users u
       WHERE u.id = (SELECT l.user_id FROM ledger l WHERE l.player_id = CAST(given.value->>'id' AS {guid})
                     ORDER BY l.seq DESC LIMIT 1)) IS NULL;

-- Number and time of the first change from a number on.
-- name: first_from
SELECT seq, at FROM ledger WHERE seq >= $1 ORDER BY seq LIMIT 1;
