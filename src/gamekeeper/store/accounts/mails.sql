-- name: queue
INSERT INTO mails (id, user_id, caller_id, kind, address, queued_at, expires_at, tries, next_try_at, epoch)
VALUES ($1, $2, $3, 'password_reset', $4, {now}, {now} + $5, 0, {now}, (SELECT e.id FROM epoch e WHERE e.one = 1));

-- Milliseconds until another mail is allowed; no row if there were fewer than $2 in the window.
-- name: wait_of_user, wait_of_caller {column: user_id|caller_id}
SELECT queued_at + $3 - {now} FROM mails WHERE {column} = $1 AND queued_at > {now} - $3
ORDER BY queued_at DESC LIMIT 1 OFFSET $2 - 1;

-- A mail of a former epoch is not due: it may have been sent after the state that was restored.
-- name: any_due
SELECT 1 FROM mails m JOIN resets r ON r.user_id = m.user_id AND r.mail_id = m.id
WHERE m.next_try_at <= {now} AND r.expires_at > {now} AND r.tries_left > 0
  AND (m.epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) OR m.epoch IS NULL) LIMIT 1;

-- A mail that has been due for longer than $1 milliseconds.
-- name: any_stuck
SELECT 1 FROM mails WHERE next_try_at IS NOT NULL AND queued_at < {now} - $1 LIMIT 1;

-- name: next_due
SELECT one.id, u.name, one.address, r.code, one.queued_at, one.tries + 1, r.expires_at - {now}, {now} + $1
FROM mails one JOIN resets r ON r.user_id = one.user_id AND r.mail_id = one.id JOIN users u ON u.id = one.user_id
WHERE one.next_try_at <= {now} AND r.expires_at > {now} AND r.tries_left > 0
  AND (one.epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) OR one.epoch IS NULL)
ORDER BY one.next_try_at LIMIT 1 {take_one};

-- name: take
UPDATE mails SET tries = $2, next_try_at = $3, taken_until = $3 WHERE id = $1;

-- Whether the mail is still leased, and its reset code valid.
-- name: is_wanted
SELECT 1 FROM mail_records WHERE id = $1 AND state = 'sending';

-- name: note_sent
UPDATE mails SET sent_at = {now}, failed_at = NULL, next_try_at = NULL, taken_until = NULL, last_error = NULL
WHERE id = $1;

-- Changes nothing if the lease has ended: a later sender's result is not overwritten.
-- name: note_failure
UPDATE mails SET next_try_at = {now} + $3, taken_until = NULL, last_error = $4
WHERE id = $1 AND taken_until = $2;

-- name: note_refusal
UPDATE mails SET failed_at = {now}, next_try_at = NULL, taken_until = NULL, last_error = $3
WHERE id = $1 AND taken_until = $2;

-- No sender leases the mail until this transaction ends.
-- name: lock
SELECT id FROM mails WHERE id = $1 {for_update};

-- name: retry
UPDATE mails SET next_try_at = $2, failed_at = NULL, epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) WHERE id = $1;

-- Mails that were not sent and whose reset code is still valid.
-- name: unsent
SELECT id FROM mail_records WHERE code IS NOT NULL AND sent_at IS NULL ORDER BY queued_at, id;

-- name: page
SELECT id, name, address, state, queued_at, expires_at, tries, next_try_at, sent_at, last_error, code
FROM mail_records
ORDER BY queued_at DESC, id LIMIT $1;

-- part: mail
id, user_id, name, kind, address, state, queued_at, expires_at, tries, next_try_at, sent_at, last_error,
code IS NOT NULL
FROM mail_records;

-- Mails before the cursor (time, id), newest first; without the codes.
-- name: newest
SELECT {mail} WHERE (queued_at, id) < ($1, $2) ORDER BY queued_at DESC, id DESC LIMIT $3;

-- name: newest_of_user
SELECT {mail} WHERE (queued_at, id) < ($1, $2) AND user_id = $4 ORDER BY queued_at DESC, id DESC LIMIT $3;

-- name: outgoing
SELECT {mail} WHERE id = $1;

-- name: by_id
SELECT id, name, address, state, queued_at, expires_at, tries, next_try_at, sent_at, last_error, code
FROM mail_records
WHERE id = $1;

-- Mails that wait to be sent, by the error of the last attempt; null: not tried yet.
-- name: waiting
SELECT last_error, COUNT(*) FROM mail_records
WHERE next_try_at IS NOT NULL AND state IN ('queued', 'sending')
GROUP BY last_error ORDER BY COUNT(*) DESC, last_error;

-- name: count_failed
SELECT COUNT(*) FROM mails WHERE failed_at > {now} - $1;

-- Failed mails among the newest ones.
-- name: count_recent_failures
SELECT COUNT(*) FROM (SELECT failed_at FROM mails WHERE queued_at > {now} - $1 ORDER BY queued_at DESC LIMIT $2) AS newest
WHERE failed_at IS NOT NULL;

-- Counts at most 1000 waiting mails, and those that failed among the newest $2 of a time.
-- name: counts
SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM mails WHERE next_try_at IS NOT NULL LIMIT 1000) AS w),
       (SELECT COUNT(*) FROM (SELECT failed_at FROM mails WHERE queued_at > {now} - $1 ORDER BY queued_at DESC LIMIT $2) AS f
        WHERE failed_at IS NOT NULL);

-- name: retire
UPDATE mails SET next_try_at = NULL
WHERE next_try_at IS NOT NULL AND id IN (SELECT id FROM mail_records WHERE next_try_at IS NOT NULL AND state = 'expired');

-- Mails of a former epoch are not sent until somebody retries them.
-- name: fail_former
UPDATE mails SET failed_at = {now}, next_try_at = NULL, taken_until = NULL, last_error = $1
WHERE next_try_at IS NOT NULL AND epoch <> (SELECT e.id FROM epoch e WHERE e.one = 1);

-- name: delete_old
DELETE FROM mails WHERE queued_at < $1;

-- name: of_person
SELECT id, kind, address, queued_at, expires_at, tries, sent_at, failed_at, last_error FROM mails
WHERE user_id = $1 ORDER BY queued_at, id;
