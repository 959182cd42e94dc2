-- name: insert
INSERT INTO invitations (id, email, email_fold, roles, inviter_id, invited_at, expires_at, tries, next_try_at, epoch,
                         makes_decider)
VALUES ($1, $2, $3, $4, $5, {now}, $6, 0, {now}, (SELECT e.id FROM epoch e WHERE e.one = 1), $7);

-- part: invitation
i.id, i.email, i.roles, i.inviter_id, u.name, i.invited_at, i.expires_at, i.sent_at, i.failed_at, i.last_error,
i.makes_decider;

-- name: open
SELECT {invitation} FROM invitations i JOIN users u ON u.id = i.inviter_id
WHERE i.expires_at > {now} ORDER BY i.invited_at DESC, i.id LIMIT $1;

-- name: by_id
SELECT {invitation} FROM invitations i JOIN users u ON u.id = i.inviter_id WHERE i.id = $1 AND i.expires_at > {now};

-- An invitation of a former epoch is void: it may have been accepted or withdrawn after the state that was restored.
-- name: by_hash
SELECT {invitation}
FROM invitation_links l JOIN invitations i ON i.id = l.invitation_id JOIN users u ON u.id = i.inviter_id
WHERE l.secret_hash = $1 AND i.expires_at > {now} AND (i.epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) OR i.epoch IS NULL);

-- name: count
SELECT COUNT(*) FROM invitations WHERE expires_at > {now};

-- name: lock
SELECT id FROM invitations WHERE id = $1 {for_update};

-- name: delete
DELETE FROM invitations WHERE id = $1;

-- name: delete_of_email
DELETE FROM invitations WHERE email_fold = $1;

-- name: delete_old
DELETE FROM invitations WHERE expires_at < $1;

-- Those of a former epoch may have been accepted or withdrawn since.
-- name: delete_former
DELETE FROM invitations WHERE epoch <> (SELECT e.id FROM epoch e WHERE e.one = 1);

-- name: any_due
SELECT 1 FROM invitations WHERE next_try_at <= {now} AND expires_at > {now} AND (epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) OR epoch IS NULL) LIMIT 1;

-- name: next_due
SELECT one.id, u.name, one.email, one.invited_at, one.tries + 1, one.expires_at - {now}, {now} + $1
FROM invitations one JOIN users u ON u.id = one.inviter_id
WHERE one.next_try_at <= {now} AND one.expires_at > {now}
  AND (one.epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) OR one.epoch IS NULL)
ORDER BY one.next_try_at LIMIT 1 {take_one};

-- name: take
UPDATE invitations SET tries = $2, next_try_at = $3, taken_until = $3 WHERE id = $1;

-- name: add_link
INSERT INTO invitation_links (secret_hash, invitation_id) VALUES ($2, $1);

-- name: is_wanted
SELECT 1 FROM invitations WHERE id = $1 AND taken_until > {now} AND expires_at > {now};

-- name: note_sent
UPDATE invitations SET sent_at = {now}, failed_at = NULL, next_try_at = NULL, taken_until = NULL, last_error = NULL
WHERE id = $1;

-- name: note_failure
UPDATE invitations SET next_try_at = {now} + $3, taken_until = NULL, last_error = $4
WHERE id = $1 AND taken_until = $2;

-- name: note_refusal
UPDATE invitations SET failed_at = {now}, next_try_at = NULL, taken_until = NULL, last_error = $3
WHERE id = $1 AND taken_until = $2;
