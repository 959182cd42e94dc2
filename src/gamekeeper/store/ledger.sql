-- name: append
INSERT INTO ledger (at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason)
VALUES ({now}, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: after
SELECT seq, at, kind, actor_id, token_id, over_link, player_id, user_id, before, after, request_id, reason
FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2;

-- name: belongings_after
SELECT seq, before, after FROM ledger WHERE seq > $1 AND kind <> 'catalogue_put' ORDER BY seq LIMIT $2;

-- name: last
SELECT COALESCE(MAX(seq), 0) FROM ledger;
