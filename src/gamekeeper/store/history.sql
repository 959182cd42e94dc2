-- The newest first, out of so many rows before a number: what is filtered out must not make a request long.
-- name: page
SELECT seq, at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason, undoes,
       (SELECT u.name FROM users u WHERE u.id = l.actor_id), (SELECT p.name FROM players p WHERE p.id = l.player_id),
       (SELECT u.name FROM users u WHERE u.id = l.user_id)
FROM (SELECT * FROM (
          SELECT * FROM (SELECT * FROM ledger WHERE CAST($4 AS TEXT) = 'all' AND seq < $1
                         ORDER BY seq DESC LIMIT $2) AS of_all
          UNION ALL
          SELECT * FROM (SELECT * FROM ledger WHERE CAST($4 AS TEXT) = 'player' AND player_id = $5 AND seq < $1
                         ORDER BY seq DESC LIMIT $2) AS of_player
          UNION ALL
          SELECT * FROM (SELECT * FROM ledger WHERE CAST($4 AS TEXT) = 'user' AND user_id = $5 AND seq < $1
                         ORDER BY seq DESC LIMIT $2) AS of_user
          UNION ALL
          SELECT * FROM (SELECT * FROM ledger
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
      ORDER BY seq DESC LIMIT $3) AS l
ORDER BY seq DESC;

-- The last of the rows that were looked at: its number, its time, and how many there were.
-- name: reached
SELECT COALESCE(MIN(seq), 0), COALESCE(MIN(at), 0), COUNT(*)
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

-- name: one
SELECT seq, at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason, undoes,
       (SELECT u.name FROM users u WHERE u.id = l.actor_id), (SELECT p.name FROM players p WHERE p.id = l.player_id),
       (SELECT u.name FROM users u WHERE u.id = l.user_id)
FROM ledger l WHERE seq = $1;

-- What takes these changes back, and what takes that back, and so on.
-- name: undoing
WITH RECURSIVE chain (seq, undoes) AS (
    SELECT r.seq, r.undoes
    FROM json_each($1) AS given, {each} ledger r WHERE r.undoes = CAST(given.value->>'seq' AS {long}) {end_each}
    UNION ALL
    SELECT r.seq, r.undoes FROM chain, {each} ledger r WHERE r.undoes = chain.seq {end_each})
SELECT seq, undoes FROM chain;

-- One character's changes, the newest first, back to a number.
-- name: back
SELECT seq, at, kind, before, after FROM ledger WHERE player_id = $1 AND seq < $2 AND seq > $3 ORDER BY seq DESC LIMIT $4;

-- The first row from a number on: its number and its time.
-- name: first_from
SELECT seq, at FROM ledger WHERE seq >= $1 ORDER BY seq LIMIT 1;
