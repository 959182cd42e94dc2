-- Milliseconds until each of the three counts falls below its limit; 0 if it is below.
-- name: waits
SELECT COALESCE((SELECT at + $4 - {now} FROM guesses WHERE account = $1 AND caller = $2 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $5 - 1), 0),
       COALESCE((SELECT at + $4 - {now} FROM guesses WHERE account = $1 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $6 - 1), 0),
       COALESCE((SELECT at + $4 - {now} FROM guesses WHERE caller = $3 AND at > {now} - $4
                 ORDER BY at DESC LIMIT 1 OFFSET $7 - 1), 0);

-- An advisory lock after the claim of `write`, until the transaction ends; SQLite has one writer: no lock.
-- name: hold_claim (sqlite)
SELECT $1;

-- name: hold_claim (postgres)
SELECT pg_advisory_xact_lock($1);

-- name: insert
INSERT INTO guesses (id, account, caller, at) VALUES ($1, $2, $3, {now});

-- name: delete
DELETE FROM guesses WHERE id = $1;

-- name: delete_guesses_of_account
DELETE FROM guesses WHERE account = $1;

-- name: delete_old
DELETE FROM guesses WHERE id IN (SELECT id FROM guesses WHERE at < {now} - $1 ORDER BY at LIMIT $2);

-- name: save
INSERT INTO resets (user_id, code, tries_left, expires_at, mail_id) VALUES ($1, $2, $3, {now} + $4, $5)
ON CONFLICT (user_id) DO UPDATE
SET code = excluded.code, tries_left = excluded.tries_left, expires_at = excluded.expires_at, mail_id = excluded.mail_id;

-- name: live_reset_code
SELECT code FROM resets WHERE user_id = $1 AND expires_at > {now} AND tries_left > 0;

-- Also a code that has no attempts left.
-- name: current_reset_code
SELECT code FROM resets WHERE user_id = $1 AND expires_at > {now};

-- name: spend_reset_try
UPDATE resets SET tries_left = tries_left - 1 WHERE user_id = $1 AND tries_left > 0;

-- name: forget
DELETE FROM resets WHERE user_id = $1;

-- name: imported
SELECT id, password FROM users
WHERE substr(password, 1, 9) = 'intersect' AND id >= $1
ORDER BY id LIMIT $2;

-- name: count_imported_hashes
SELECT COUNT(*) FROM users WHERE substr(password, 1, 9) = 'intersect';

-- Finds no row if the password hash is not $2 any more.
-- name: replace_imported_hash
UPDATE users SET password = $3 WHERE id = $1 AND password = $2 RETURNING id;

-- Whether the caller recently sent the password of the account; for no account (null) no row, equally slowly.
-- name: known_caller
SELECT 1 FROM known_callers WHERE user_id = $1 AND caller = $2 AND at > {now} - $3;

-- Inserts nothing if the account was deleted meanwhile, or if only its password was right ($3) and it has a second factor.
-- At most once an hour: some clients log in before every call.
-- name: save_known_caller
INSERT INTO known_callers (user_id, caller, at) SELECT id, $2, {now} FROM users
WHERE id = $1 AND ($3 OR NOT EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = $1))
ON CONFLICT (user_id, caller) DO UPDATE SET at = excluded.at WHERE known_callers.at < excluded.at - 3600000;

-- name: forget_caller
DELETE FROM known_callers WHERE user_id = $1;

-- name: delete_old_known_callers
DELETE FROM known_callers
WHERE (user_id, caller) IN (SELECT user_id, caller FROM known_callers WHERE at < $1 ORDER BY at LIMIT $2);

-- name: of_person
SELECT caller, at FROM known_callers WHERE user_id = $1 ORDER BY caller;

-- name: find
SELECT id, user_id, issuer, subject, started_at, added_at, last_used
FROM identities WHERE issuer = $1 AND subject = $2;

-- name: of_user
SELECT id, user_id, issuer, subject, started_at, added_at, last_used
FROM identities WHERE user_id = $1 ORDER BY added_at, id;

-- name: issuers
SELECT i.user_id, i.issuer FROM json_each($1) AS given
JOIN identities i ON i.user_id = CAST(given.value->>'id' AS {guid}) ORDER BY i.added_at, i.id;

-- name: insert_identity
INSERT INTO identities (id, user_id, issuer, subject, started_at, added_at, last_used)
VALUES ($1, $2, $3, $4, $5, {now}, {now});

-- name: delete_identity
DELETE FROM identities WHERE id = $1;

-- Finds no row if this sign-in, or one that began later, was finished already, here or on another instance.
-- name: use_identity
UPDATE identities SET started_at = $2, last_used = {now} WHERE id = $1 AND started_at < $2 RETURNING id;

-- name: of_person_identity
SELECT issuer, subject, added_at, last_used FROM identities WHERE user_id = $1 ORDER BY added_at, id;
