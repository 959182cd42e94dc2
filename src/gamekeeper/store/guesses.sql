-- name: recent
SELECT COUNT(*),
       COALESCE(SUM(CASE WHEN caller = $2 THEN 1 ELSE 0 END), 0),
       COALESCE(MIN(at) - {now}, 0),
       COALESCE(MIN(CASE WHEN caller = $2 THEN at END) - {now}, 0)
FROM guesses WHERE account = $1 AND at > {now} - $3;

-- name: insert
INSERT INTO guesses (id, account, caller, at) VALUES ($1, $2, $3, {now});

-- name: delete
DELETE FROM guesses WHERE id = $1;

-- name: delete_old
DELETE FROM guesses WHERE id IN (SELECT id FROM guesses WHERE at < {now} - $1 ORDER BY at LIMIT $2);
