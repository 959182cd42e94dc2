-- name: find
SELECT id, user_id, issuer, subject, started_at, added_at, last_used
FROM identities WHERE issuer = $1 AND subject = $2;

-- name: of_user
SELECT id, user_id, issuer, subject, started_at, added_at, last_used
FROM identities WHERE user_id = $1 ORDER BY added_at, id;

-- name: issuers
SELECT i.user_id, i.issuer FROM json_each($1) AS given
JOIN identities i ON i.user_id = CAST(given.value->>'id' AS {guid}) ORDER BY i.added_at, i.id;

-- name: insert
INSERT INTO identities (id, user_id, issuer, subject, started_at, added_at, last_used)
VALUES ($1, $2, $3, $4, $5, {now}, {now});

-- name: delete
DELETE FROM identities WHERE id = $1;

-- Finds no row if this sign-in, or one that began later, was finished already, here or on another instance.
-- name: use
UPDATE identities SET started_at = $2, last_used = {now} WHERE id = $1 AND started_at < $2 RETURNING id;
