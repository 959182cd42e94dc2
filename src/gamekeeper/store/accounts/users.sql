-- Look-up by name, with the same preference among equal folds as in players.sql.
-- part: named
COALESCE((SELECT c.fold FROM users c WHERE c.fold >= $1 AND c.fold < $3 AND c.name = $2
          ORDER BY c.fold LIMIT 1), $1);

-- part: account
id, name, email, password, editor, ban, kick, mute, api,
users_query, users_manage, game_link, created_at, mute_reason, reset_code, ban_reason, grants, suspended;

-- name: by_fold
SELECT {account} FROM user_records WHERE fold = {named};

-- With the total play time of the account's players, which a log-in does not need.
-- name: record_by_fold
SELECT {account}, play_time FROM user_records WHERE fold = {named};

-- name: by_id
SELECT {account} FROM user_records WHERE id = $1;

-- name: record_by_id
SELECT {account}, play_time FROM user_records WHERE id = $1;

-- part: record
r.name, r.email, r.password, r.editor, r.ban, r.kick, r.mute, r.api, r.users_query, r.users_manage, r.game_link,
r.created_at, r.mute_reason, r.reset_code, r.ban_reason, r.grants, r.suspended, r.play_time;

-- Pages of accounts, in one form for each engine as in players.sql.
-- name: from_name (sqlite)
SELECT {account}, play_time FROM user_records
WHERE fold >= (SELECT fold FROM users WHERE fold >= $1 ORDER BY fold LIMIT 1 OFFSET $3)
ORDER BY fold LIMIT $2;

-- name: from_name (postgres)
SELECT CAST(r.id AS text) AS id, {record}
FROM (SELECT fold FROM users WHERE fold >= $1 ORDER BY fold LIMIT $2 OFFSET $3) AS page,
     {each} user_records r WHERE r.fold = page.fold {end_each}
ORDER BY page.fold;

-- name: keys_by_name, keys_by_email {fold: fold|email_fold}
SELECT {fold} FROM users WHERE {fold} >= $1 ORDER BY {fold} LIMIT $2;

-- name: lows_by_name, lows_by_email {fold: fold|email_fold}
SELECT {fold} FROM (SELECT {fold}, row_number() OVER (ORDER BY {fold}) AS n FROM users) AS numbered
WHERE n % $1 = 1 ORDER BY n;

-- name: from_email
SELECT r.id, {record}
FROM (SELECT email_fold, id FROM users WHERE email_fold >= $1 ORDER BY email_fold LIMIT $2 OFFSET $3) AS page,
     {each} user_records r WHERE r.id = page.id {end_each}
ORDER BY page.email_fold;

-- name: of_ids
SELECT r.id, {record}
FROM json_each($1) AS wanted, {each} user_records r WHERE r.id = CAST(value->>'id' AS {guid}) {end_each};

-- name: after
SELECT {account}, fold FROM user_records WHERE fold > $1 ORDER BY fold LIMIT $2;

-- name: count
SELECT COUNT(*) FROM users;

-- name: lock
SELECT id FROM users WHERE id = $1 {for_update};

-- name: id_by_email_fold
SELECT id FROM users WHERE email_fold = $1;

-- name: known_ids
SELECT id FROM users WHERE id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: known_folds
SELECT fold FROM users WHERE fold IN (SELECT value->>'fold' FROM json_each($1));

-- name: known_emails
SELECT email_fold FROM users WHERE email_fold IN (SELECT value->>'fold' FROM json_each($1));

-- name: any_api
SELECT 1 FROM users WHERE api UNION ALL SELECT 1 FROM user_roles LIMIT 1;

-- name: insert
INSERT INTO users (id, name, fold, email, email_fold, password, editor, ban, kick, mute, api,
                   users_query, users_manage, game_link, created_at)
SELECT CAST(value->>'id' AS {guid}), value->>'name', value->>'fold', value->>'email', value->>'email_fold',
       value->>'password', CAST(value->>'editor' AS {boolean}), CAST(value->>'ban' AS {boolean}),
       CAST(value->>'kick' AS {boolean}), CAST(value->>'mute' AS {boolean}), CAST(value->>'api' AS {boolean}),
       CAST(value->>'users_query' AS {boolean}), CAST(value->>'users_manage' AS {boolean}),
       CAST(value->>'game_link' AS {boolean}), {now}
FROM json_each($1);

-- The creation time of an account that is loaded as an earlier one.
-- name: backdate
UPDATE users SET created_at = $2 WHERE id = $1;

-- name: load
INSERT INTO users (id, name, fold, email, email_fold, password, editor, ban, kick, mute, api,
                   users_query, users_manage, game_link, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);

-- name: set_name
UPDATE users SET name = $2, fold = $3 WHERE id = $1;

-- Also deletes tokens, mails, reset codes, bans and mutes. Delete its players first.
-- name: delete
DELETE FROM users WHERE id = $1;

-- name: set_email
UPDATE users SET email = $2, email_fold = $3 WHERE id = $1;

-- name: set_password
UPDATE users SET password = $2 WHERE id = $1;

-- name: set_powers
UPDATE users
SET editor = $2, ban = $3, kick = $4, mute = $5, api = $6, users_query = $7, users_manage = $8, game_link = $9
WHERE id = $1;

-- name: suspend
UPDATE users SET suspended = {true} WHERE id = $1;

-- name: resume
UPDATE users SET suspended = {false} WHERE id = $1;

-- name: checked_after
SELECT u.id, u.name, u.fold, u.email, u.email_fold,
       u.editor, u.ban, u.kick, u.mute, u.api, u.users_query, u.users_manage, u.game_link, v.grants
FROM (SELECT * FROM users WHERE id > $1 ORDER BY id LIMIT $2) AS u JOIN user_records v ON v.id = u.id ORDER BY u.id;

-- Milliseconds until the caller may register another account; no row if it registered fewer than $2 in the window.
-- name: registration_wait
SELECT at + $3 - {now} FROM registrations
WHERE caller_id = $1 AND at > {now} - $3
ORDER BY at DESC LIMIT 1 OFFSET $2 - 1;

-- name: insert_registration
INSERT INTO registrations (caller_id, at, user_id) VALUES ($1, {now}, $2);

-- name: delete_old_registrations
DELETE FROM registrations WHERE caller_id = $1 AND at <= {now} - $2;
