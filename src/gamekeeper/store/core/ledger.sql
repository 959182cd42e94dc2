-- name: append
INSERT INTO ledger (at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason, undoes)
VALUES ({now}, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: append_numbered
INSERT INTO ledger (at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason, undoes)
VALUES ({now}, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING seq;

-- Gives changes of this transaction a time of the past, for a load of earlier changes.
-- name: set_time
UPDATE ledger SET at = $2 WHERE seq IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($1));

-- name: after
SELECT seq, at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason
FROM masked_ledger WHERE seq > $1 ORDER BY seq LIMIT $2;

-- The next changes that can mention items, without the large ones of the catalogue.
-- name: belongings_after
SELECT seq, before, after FROM masked_ledger WHERE seq > $1 AND kind <> 'catalogue_put' ORDER BY seq LIMIT $2;

-- Among the $3 oldest changes after number $1: those before the first change that is too young to trim. Returns the last
-- number, the count and the oldest time. A change with a wrong time in the past does not make later changes old, and one
-- with a time in the future does not keep the old changes after it from being trimmed.
-- name: old
WITH oldest AS (SELECT seq, at FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $3)
SELECT COALESCE(MAX(seq), 0), COUNT(*), COALESCE(MIN(at), $2)
FROM oldest
WHERE seq < COALESCE((SELECT MIN(seq) FROM oldest WHERE at BETWEEN $2 AND {now}), (SELECT MAX(seq) + 1 FROM oldest))
  AND seq <= (SELECT MAX(seq) FROM oldest WHERE at < $2);

-- Changes up to a number that may be deleted: those about no player, commands told at most once, and those followed by a
-- newer change of the same player from the same source (API, or the same game server). A game server that missed both
-- receives the newest; a command does not count as the newest.
-- Erasures of accounts are kept, because an import must not create these accounts again. Catalogue changes come without
-- their sides: what a game publishes may have fields like those of a slot, such as the ingredients of a craft.
-- name: superseded
SELECT seq, CASE WHEN kind <> 'catalogue_put' THEN before END, CASE WHEN kind <> 'catalogue_put' THEN after END
FROM masked_ledger WHERE seq IN (
    SELECT r.seq
    FROM (SELECT player_id, over_link, actor_id, MAX(seq) AS seq
          FROM (SELECT player_id, over_link, CASE WHEN over_link THEN actor_id END AS actor_id, seq
                FROM ledger WHERE seq > $1 AND seq <= $2 AND player_id IS NOT NULL AND kind NOT IN ({commands})) AS looked_at
          GROUP BY player_id, over_link, actor_id) AS newest,
         {each} ledger r WHERE r.player_id = newest.player_id AND r.seq < newest.seq AND r.over_link = newest.over_link
             AND (NOT r.over_link OR r.actor_id = newest.actor_id) {end_each}
    UNION
    SELECT seq FROM ledger WHERE seq > $1 AND seq <= $2
        AND ((player_id IS NULL AND kind <> 'user_deleted') OR kind IN ({commands})));

-- name: deleted_players, deleted_users {id: player_id|user_id} {kind: player_deleted|user_deleted}
SELECT DISTINCT r.{id}
FROM json_each($1) AS given,
     {each} ledger r WHERE r.{id} = CAST(given.value->>'id' AS {guid}) AND r.kind = '{kind}' {end_each};

-- name: trimmed
SELECT trimmed FROM epoch {for_update};

-- name: set_trimmed
UPDATE epoch SET trimmed = $1;

-- name: delete
DELETE FROM ledger WHERE seq IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($1));

-- Players that belonged to the account when they were deleted, except those that exist again under another account.
-- name: deleted_of_user
SELECT DISTINCT l.player_id FROM ledger l
WHERE l.user_id = $1 AND l.kind = 'player_deleted'
  AND NOT EXISTS (SELECT 1 FROM players p WHERE p.id = l.player_id AND p.user_id <> $1)
  AND NOT EXISTS (SELECT 1 FROM ledger r WHERE r.player_id = l.player_id AND r.seq > l.seq AND r.user_id <> $1);

-- name: of_user
SELECT seq, at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason
FROM masked_ledger WHERE user_id = $1 AND player_id IS NULL AND seq > $2 ORDER BY seq LIMIT $3;

-- name: of_player
SELECT seq, at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason
FROM masked_ledger WHERE player_id = $1 AND seq > $2 ORDER BY seq LIMIT $3;

-- name: count_about
SELECT COUNT(*) FROM (
    SELECT 1 FROM ledger WHERE user_id = $1 AND player_id IS NULL
    UNION ALL
    SELECT 1 FROM json_each($2) AS given,
         {each} ledger r WHERE r.player_id = CAST(given.value->>'id' AS {guid}) {end_each}
    LIMIT $3) AS found;

-- Changes that are not trimmed, after the cursor ($1, $2).
-- name: of_players_between
SELECT player_id, seq, kind, before, after FROM masked_ledger
WHERE (player_id, seq) > ($1, $2) AND player_id <= $3 AND seq > $4 ORDER BY player_id, seq LIMIT $5;

-- Changes of permissions that are not trimmed, after the cursor ($1, $2).
-- name: powers_between
SELECT user_id, seq, after FROM masked_ledger
WHERE (user_id, seq) > ($1, $2) AND user_id <= $3 AND seq > $4
  AND player_id IS NULL AND kind IN ('user_registered', 'powers_changed', 'roles_changed') AND after IS NOT NULL
ORDER BY user_id, seq LIMIT $5;

-- name: last
SELECT COALESCE(MAX(seq), 0) FROM ledger;

-- For the doctor: the newest time of a change of a kind; reads all changes.
-- name: last_time
SELECT COALESCE(MAX(at), 0) FROM ledger WHERE kind = $1;

-- For the doctor: changes, and how many milliseconds the change before each is later. On SQLite times follow the numbers.
-- name: backward_steps (sqlite)
SELECT seq, before - at
FROM (SELECT seq, at, LAG(at) OVER (ORDER BY seq) AS before FROM ledger) AS timed WHERE at < before - $1;

-- name: backward_steps (postgres)
SELECT 0, 0 WHERE CAST($1 AS bigint) IS NULL;

-- name: standing
SELECT id, (SELECT COALESCE(MAX(seq), 0) FROM ledger), trimmed FROM epoch;

-- name: last_drawn (sqlite)
SELECT COALESCE(MAX(seq), 0) FROM ledger;

-- name: last_drawn (postgres)
SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ledger_seq;

-- SQLite has one writer at a time, so no transaction with a lower number can commit later.
-- name: own_transaction (sqlite)
SELECT 0;

-- name: own_transaction (postgres)
SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS bigint);

-- name: oldest_transaction (sqlite)
SELECT 0;

-- name: oldest_transaction (postgres)
SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS bigint);

-- name: last_written
SELECT COALESCE(MAX(seq), 0) FROM ledger WHERE seq <= $1;
