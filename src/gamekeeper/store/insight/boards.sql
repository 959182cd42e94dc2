-- name: insert
INSERT INTO boards (id, name, title, ranks, thing_id, gain, hide_staff, public, created_at, deleted)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, {false});

-- If a board hides staff from now on, or shows them, the review of all staff starts.
-- name: update
UPDATE boards SET title = $2, public = $4, hide_staff = $3,
                  reviewed = CASE WHEN hide_staff = $3 THEN reviewed ELSE CAST($5 AS {guid}) END
WHERE id = $1;

-- Boards whose change of `hide_staff` is not applied to all staff. The number of boards is limited.
-- name: reviewing
SELECT id, reviewed FROM boards WHERE reviewed IS NOT NULL AND NOT deleted ORDER BY id;

-- name: move_review
UPDATE boards SET reviewed = $2 WHERE id = $1;

-- name: mark_deleted
UPDATE boards SET deleted = {true}, public = {false} WHERE id = $1;

-- The number of boards is limited.
-- name: all, find {wanted: |AND b.name = $1} {order: ORDER BY b.name|}
SELECT b.id, b.name, b.title, b.ranks, b.thing_id, b.gain, b.hide_staff, b.public, b.created_at,
       CASE b.ranks WHEN 'item' THEN (SELECT i.name FROM items i WHERE i.id = b.thing_id)
                    WHEN 'variable' THEN (SELECT v.name FROM variables v WHERE v.id = b.thing_id) END
FROM boards b WHERE NOT b.deleted {wanted} {order};

-- name: lock
SELECT id FROM boards WHERE id = $1 {for_update};

-- name: insert_season
INSERT INTO seasons (id, board_id, number, title, starts_at, ends_at, seq, swept, final)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, {false});

-- name: update_season
UPDATE seasons SET title = $2, ends_at = $3 WHERE id = $1;

-- part: season
s.id, s.board_id, s.number, s.title, s.starts_at, s.ends_at, s.seq, s.swept, s.final;

-- Newest first, of one board.
-- name: seasons
SELECT {season} FROM seasons s WHERE s.board_id = $1 ORDER BY s.number DESC LIMIT $2;

-- name: season
SELECT {season} FROM seasons s WHERE s.board_id = $1 AND s.number = $2;

-- Seasons that are not final, with their boards. Their number is limited, like that of boards.
-- name: open
SELECT {season}, b.ranks, b.thing_id, b.gain, b.hide_staff
FROM seasons s JOIN boards b ON b.id = s.board_id AND NOT b.deleted WHERE NOT s.final ORDER BY s.seq, s.id;

-- name: has_open
SELECT 1 FROM seasons WHERE NOT final LIMIT 1;

-- name: move_season
UPDATE seasons SET seq = $2, swept = $3, final = $4 WHERE id = $1;

-- name: final_ones
SELECT id FROM seasons WHERE final AND id {any} SELECT CAST(value->>'id' AS {guid}) FROM json_each($1) {end_any};

-- Changes about players and accounts. What a game publishes and trims come without their sides.
-- name: changes
SELECT l.seq, l.at, l.kind, l.player_id, l.user_id,
       CASE WHEN l.kind NOT IN ('catalogue_put', 'ledger_trimmed') THEN l.before END,
       CASE WHEN l.kind NOT IN ('catalogue_put', 'ledger_trimmed') THEN l.after END
FROM masked_ledger l WHERE l.seq > $1 AND l.seq <= $2 ORDER BY l.seq LIMIT $3;

-- Number and time of the first change from a number on.
-- name: change_at_or_after
SELECT seq, at FROM ledger WHERE seq >= $1 ORDER BY seq LIMIT 1;

-- name: save_hidden
INSERT INTO hidden_accounts (user_id, hidden, applied) VALUES ($1, $2, {false})
ON CONFLICT (user_id) DO UPDATE SET hidden = excluded.hidden, applied = excluded.applied;

-- name: is_hidden
SELECT 1 FROM hidden_accounts WHERE user_id = $1 AND hidden;

-- Their number is limited.
-- name: hidden
-- CROSS JOIN, because otherwise SQLite would read all accounts in order of their names.
SELECT h.user_id, u.name FROM hidden_accounts h CROSS JOIN users u WHERE u.id = h.user_id AND h.hidden ORDER BY u.fold;

-- name: count_hidden
SELECT COUNT(*) FROM hidden_accounts WHERE hidden;

-- name: hidden_waiting
SELECT user_id FROM hidden_accounts WHERE NOT applied ORDER BY user_id LIMIT $1;

-- name: lock_hidden
SELECT user_id FROM hidden_accounts WHERE user_id = $1 {for_update};

-- name: set_applied
UPDATE hidden_accounts SET applied = {true} WHERE user_id = $1;

-- name: delete_shown
DELETE FROM hidden_accounts WHERE user_id = $1 AND NOT hidden;

-- Bans after another one that ended up to a time.
-- name: bans_ended
SELECT ends_at, started_at, user_id FROM bans WHERE (ends_at, started_at, user_id) > ($1, $2, $3) AND ends_at <= $4
ORDER BY ends_at, started_at, user_id LIMIT $5;

-- name: deleted_season
SELECT s.id FROM boards b JOIN seasons s ON s.board_id = b.id WHERE b.deleted LIMIT 1;

-- name: delete_season
DELETE FROM seasons WHERE id = $1;

-- name: delete_empty
DELETE FROM boards WHERE deleted AND NOT EXISTS (SELECT 1 FROM seasons s WHERE s.board_id = boards.id);

-- name: has_deleted
SELECT 1 FROM boards WHERE deleted LIMIT 1;

-- Latest end up to a time of a season that counts play time: open sessions are counted up to it.
-- name: last_end
SELECT MAX(s.ends_at) FROM seasons s JOIN boards b ON b.id = s.board_id
WHERE NOT s.final AND b.ranks = 'play_time' AND s.ends_at <= $1;
