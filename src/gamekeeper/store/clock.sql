-- name: now
SELECT {now};
