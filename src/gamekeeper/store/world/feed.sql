-- name: insert_deliveries
INSERT INTO deliveries (seq, server, state, queued_at, expires_at)
SELECT CAST(value->>'seq' AS {long}), value->>'server', 'waiting', {now}, {now} + CAST(value->>'life' AS {long})
FROM json_each($1);

-- name: deliveries_of_changes
SELECT r.seq, r.server, r.state, r.reason, r.queued_at, r.expires_at, r.acked_at,
       COALESCE(r.expires_at <= {now}, {false})
FROM json_each($1) AS wanted, {each} masked_deliveries r WHERE r.seq = CAST(value->>'seq' AS {long}) {end_each}
ORDER BY r.seq, r.server;

-- The game server of each player that is online, its cursor, and its receipts for all changes and for the player's.
-- name: player_receipts
SELECT r.player_id, r.server, COALESCE((SELECT s.sent_seq FROM servers s WHERE s.name = r.server), 0),
       COALESCE((SELECT s.applied_seq FROM servers s WHERE s.name = r.server), 0), COALESCE(r.applied_seq, 0)
FROM json_each($1) AS wanted, {each} presence r WHERE r.player_id = CAST(value->>'id' AS {guid}) {end_each};

-- Read the receipts of the game servers that have a lease, in order of their names.
-- name: leased_servers
SELECT name, COALESCE(sent_seq, 0), COALESCE(applied_seq, 0) FROM servers
WHERE expires_at > {now} ORDER BY name LIMIT $1;

-- name: cursors
SELECT r.name, COALESCE(r.sent_seq, 0)
FROM json_each($1) AS wanted, {each} servers r WHERE r.name = value->>'server' {end_each};

-- Commands that no game server has acknowledged in $1 ms: the $2 newest of those that never expire, and of those that
-- have not expired yet. Without kicks, bans and mutes of players who have left the game server.
-- name: overdue
SELECT d.seq, d.server, d.queued_at, r.kind, r.player_id, (SELECT p.name FROM players p WHERE p.id = r.player_id)
FROM (SELECT seq, server, queued_at FROM (
          SELECT seq, server, queued_at FROM deliveries
          WHERE state = 'waiting' AND expires_at IS NULL AND queued_at < {now} - $1
          ORDER BY queued_at DESC, seq DESC, server DESC LIMIT $2) AS lasting
      UNION ALL
      SELECT seq, server, queued_at FROM (
          SELECT seq, server, queued_at FROM deliveries
          WHERE state = 'waiting' AND expires_at > {now} AND queued_at < {now} - $1
          ORDER BY expires_at DESC LIMIT $2) AS expiring) AS d,
     {each} ledger r WHERE r.seq = d.seq
       AND (r.player_id IS NULL OR r.kind IN ({told_once})
            OR EXISTS (SELECT 1 FROM presence o WHERE o.player_id = r.player_id AND o.server = d.server)) {end_each}
ORDER BY d.queued_at DESC, d.seq DESC, d.server DESC LIMIT $3;

-- Lock a game server's deliveries of these changes. Return their states, by number of the change.
-- name: lock_deliveries
SELECT seq, state FROM deliveries
WHERE server = $1 AND seq IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($2)) ORDER BY seq {for_update};

-- The game's reason is left out if the player was deleted meanwhile: the erasure of a person is complete.
-- name: acknowledge
UPDATE deliveries SET state = given.state, acked_at = {now}, reason = CASE WHEN EXISTS (
    SELECT 1 FROM ledger l WHERE l.seq = given.seq
    AND (l.player_id IS NULL OR EXISTS (SELECT 1 FROM players p WHERE p.id = l.player_id))) THEN given.reason END
FROM (SELECT CAST(value->>'seq' AS {long}) AS seq, value->>'state' AS state, value->>'reason' AS reason
      FROM json_each($2)) AS given
WHERE deliveries.server = $1 AND deliveries.seq = given.seq
  -- without this, SQLite would read all deliveries of the server
  AND deliveries.seq IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($2));

-- name: save_cursors
UPDATE servers SET sent_seq = given.seq
FROM (SELECT value->>'server' AS name, CAST(value->>'seq' AS {long}) AS seq FROM json_each($1)) AS given
WHERE servers.name = given.name AND COALESCE(servers.sent_seq, 0) < given.seq;

-- name: delete_deliveries
DELETE FROM deliveries WHERE seq IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($1));

-- name: delete_old_deliveries
DELETE FROM deliveries WHERE (seq, server) IN (
    SELECT seq, server FROM deliveries WHERE queued_at < $1 ORDER BY queued_at LIMIT $2);

-- Remove the game's reasons from deliveries of an erased person's changes.
-- name: blank_deliveries
UPDATE deliveries SET reason = NULL
WHERE reason IS NOT NULL AND seq IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($1));

-- name: between
SELECT l.seq, l.at, l.kind, l.player_id, l.before, l.after, u.name, l.request_id
FROM masked_ledger l LEFT JOIN users u ON u.id = l.actor_id
WHERE l.seq > $1 AND l.seq <= $2 AND (l.player_id IS NOT NULL OR l.kind IN ({without_player}))
  AND ($3 OR NOT l.over_link OR l.actor_id IS NULL OR l.actor_id <> $4)
ORDER BY l.seq LIMIT $5;

-- Changes of a player's data that its game server must apply, without those that this account itself reported. A command
-- changes none, and only the feed tells for which game server it is.
-- name: of_player
SELECT l.seq, l.at, l.kind, l.player_id, l.before, l.after, u.name, l.request_id
FROM masked_ledger l LEFT JOIN users u ON u.id = l.actor_id
WHERE l.player_id = $1 AND l.seq > $2 AND l.kind NOT IN ({commands})
  AND (NOT l.over_link OR l.actor_id IS NULL OR l.actor_id <> $3)
ORDER BY l.seq LIMIT $4;
