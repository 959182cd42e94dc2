-- Milliseconds until each of the three counts falls below its limit; 0 if it is below.
-- name: waits
SELECT COALESCE((SELECT at + $4 - {now} FROM guesses WHERE account = $1 AND caller = $2 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $5 - 1), 0),
       COALESCE((SELECT at + $4 - {now} FROM guesses WHERE account = $1 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $6 - 1), 0),
       COALESCE((SELECT at + $4 - {now} FROM guesses WHERE caller = $3 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $7 - 1), 0);

-- name: hold (sqlite)
SELECT $1;

-- name: hold (postgres)
SELECT pg_advisory_xact_lock($1);

-- name: insert
INSERT INTO guesses (id, account, caller, at) VALUES ($1, $2, $3, {now});

-- name: delete
DELETE FROM guesses WHERE id = $1;

-- name: delete_of_account
DELETE FROM guesses WHERE account = $1;

-- name: delete_old
DELETE FROM guesses WHERE id IN (SELECT id FROM guesses WHERE at < {now} - $1 ORDER BY at LIMIT $2);
