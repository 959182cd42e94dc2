-- part: inserted
INSERT INTO security_events (id, at, kind, user_id, actor_id, address, browser, credential_id, details)
SELECT CAST(value->>'id' AS {guid}), {now}, value->>'kind', CAST(value->>'user_id' AS {guid}),
       CAST(value->>'actor_id' AS {guid}), value->>'address', value->>'browser',
       CAST(value->>'credential_id' AS {guid}), CAST(value->>'details' AS {json})
FROM json_each($1);

-- name: insert
{inserted};

-- Gives the events since $1, those of this transaction, a time of the past.
-- name: backdate
UPDATE security_events SET at = $2 WHERE at >= $1;

-- Earlier sign-ins, for a load of a database's past.
-- name: load_sign_ins
INSERT INTO security_events (id, at, kind, user_id, actor_id, address, browser)
VALUES ($1, $2, 'sign_in', $3, $3, $4, $5);

-- Events that waited in memory: the account may have been erased meanwhile.
-- name: insert_late
{inserted}
WHERE value->>'user_id' IS NULL OR EXISTS (SELECT 1 FROM users u WHERE u.id = CAST(value->>'user_id' AS {guid}));

-- Events before the cursor ($1 time, $2 id) in a range of times, newest first. Each branch is a range of one index.
-- name: page
SELECT id, at, kind, user_id, (SELECT u.name FROM users u WHERE u.id = s.user_id), actor_id,
       (SELECT u.name FROM users u WHERE u.id = s.actor_id), address, browser, credential_id, details
FROM (SELECT * FROM (SELECT * FROM masked_security
                     WHERE CAST($6 AS {guid}) IS NULL AND CAST($7 AS TEXT) IS NULL
                       AND (at, id) < ($1, $2) AND at >= $3 AND at <= $4
                     ORDER BY at DESC, id DESC LIMIT $5) AS of_all
      UNION ALL
      SELECT * FROM (SELECT * FROM masked_security
                     WHERE user_id = $6 AND CAST($7 AS TEXT) IS NULL
                       AND (at, id) < ($1, $2) AND at >= $3 AND at <= $4
                     ORDER BY at DESC, id DESC LIMIT $5) AS of_user
      UNION ALL
      SELECT * FROM (SELECT * FROM masked_security
                     WHERE CAST($6 AS {guid}) IS NULL AND kind = $7
                       AND (at, id) < ($1, $2) AND at >= $3 AND at <= $4
                     ORDER BY at DESC, id DESC LIMIT $5) AS of_kind
      UNION ALL
      SELECT * FROM (SELECT * FROM masked_security
                     WHERE user_id = $6 AND kind = $7
                       AND (at, id) < ($1, $2) AND at >= $3 AND at <= $4
                     ORDER BY at DESC, id DESC LIMIT $5) AS of_both) AS s
ORDER BY at DESC, id DESC;

-- The sign-ins of some tokens of an account. An event is written with its token, so its time is near that of the issue.
-- name: sign_ins
SELECT r.credential_id, r.address, r.browser
FROM json_each($1) AS given CROSS JOIN {each} masked_security r
WHERE r.user_id = $2 AND r.kind = 'sign_in' AND r.at >= CAST(given.value->>'issued_at' AS {long}) - $3
  AND r.at <= CAST(given.value->>'issued_at' AS {long}) + $3 AND r.credential_id = CAST(given.value->>'id' AS {guid}) {end_each};

-- name: of_person
SELECT id, at, kind, actor_id, address, browser, credential_id, details FROM masked_security
WHERE user_id = $1 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT $4;

-- name: addresses_of_person
SELECT holder_id, address, first_at, used_at FROM known_addresses WHERE user_id = $1 ORDER BY first_at, holder_id, address;

-- name: known_addresses
SELECT r.holder_id, r.address
FROM json_each($1) AS given, {each} known_addresses r WHERE r.holder_id = CAST(given.value->>'holder_id' AS {guid}) {end_each};

-- Rows in order of their key, so that two instances lock them in the same order. A new row has no `used_at`.
-- name: note_addresses
INSERT INTO known_addresses (holder_id, address, user_id, first_at)
SELECT CAST(value->>'holder_id' AS {guid}), value->>'address', u.id, {now}
FROM json_each($1) AS given JOIN users u ON u.id = CAST(given.value->>'user_id' AS {guid})
WHERE {true} ORDER BY 1, 2
ON CONFLICT (holder_id, address) DO UPDATE SET used_at = {now} WHERE COALESCE(known_addresses.used_at, 0) < {now} - $2
RETURNING holder_id, address, used_at;

-- Events about an erased account.
-- name: delete_of_user
DELETE FROM security_events WHERE id IN (
    SELECT id FROM security_events WHERE user_id = $1 ORDER BY at, id LIMIT $2) RETURNING 1;

-- Removes an erased account from events about others that it caused.
-- name: blank_by_actor
UPDATE security_events SET actor_id = NULL, address = NULL, browser = NULL WHERE id IN (
    SELECT id FROM security_events
    WHERE actor_id = $1 AND actor_id IS NOT NULL AND (user_id IS NULL OR user_id <> actor_id) LIMIT $2) RETURNING 1;

-- name: delete_old
DELETE FROM security_events WHERE id IN (
    SELECT id FROM security_events WHERE at < $1 ORDER BY at, id LIMIT $2) RETURNING 1;

-- name: delete_old_addresses
DELETE FROM known_addresses WHERE (holder_id, address) IN (
    SELECT holder_id, address FROM known_addresses WHERE COALESCE(used_at, first_at) < $1
    ORDER BY COALESCE(used_at, first_at) LIMIT $2);
