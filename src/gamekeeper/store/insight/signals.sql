-- part: signal
r.id, r.rule, r.subject, r.item_id, r.player_id, r.giver_id, r.first_at, r.last_at, r.times, r.evidence, r.state,
r.acknowledged_at, r.acknowledged_by, r.note;

-- The newest signal of a rule and subject, open or acknowledged.
-- name: newest
SELECT {signal} FROM signals r WHERE r.rule = $1 AND r.subject = $2 ORDER BY r.last_at DESC LIMIT 1 {for_update};

-- name: insert
INSERT INTO signals (id, rule, subject, item_id, player_id, giver_id, first_at, last_at, times, evidence, state)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'open');

-- name: repeat
UPDATE signals SET last_at = $2, times = $3, evidence = $4 WHERE id = $1;

-- name: acknowledge
UPDATE signals SET state = 'acknowledged', acknowledged_at = $2, acknowledged_by = $3, note = $4 WHERE id = $1;

-- name: add_counts
INSERT INTO signal_counts (rule, raised, opened) VALUES ($1, $2, $3)
ON CONFLICT (rule) DO UPDATE SET raised = signal_counts.raised + excluded.raised,
    opened = signal_counts.opened + excluded.opened;

-- Who holds this lock decides alone whether a finding of the rule is a new signal.
-- name: lock_counts
SELECT opened FROM signal_counts WHERE rule = $1 {for_update};

-- name: begin_counts
INSERT INTO signal_counts (rule, raised, opened) VALUES ($1, 0, 0) ON CONFLICT (rule) DO NOTHING;

-- A table of a few rows: one for each rule.
-- name: counts
SELECT rule, raised, opened FROM signal_counts ORDER BY rule;

-- Who owns a player; the player is not deleted before the transaction ends.
-- name: owner
SELECT user_id FROM players WHERE id = $1 {keep_key};

-- The account of a giver, which is an account or an API key; it is not erased before the transaction ends.
-- name: giver_account
SELECT u.id FROM users u WHERE u.id = COALESCE((SELECT k.user_id FROM api_keys k WHERE k.id = $1), $1) {keep_key};

-- name: find
SELECT {signal} FROM signals r WHERE r.id = $1;

-- name: some
SELECT {signal} FROM json_each($1) AS wanted, {each} signals r WHERE r.id = CAST(value->>'id' AS {guid}) {end_each};

-- name: lock
SELECT {signal} FROM signals r WHERE r.id = $1 {for_update};

-- Signals before the cursor ($1 time, $2 id), newest first.
-- name: page, page_of_state, page_of_rule, page_of_rule_and_state
--   {wanted: |r.state = $4 AND|r.rule = $4 AND|r.rule = $4 AND r.state = $5 AND}
SELECT {signal} FROM signals r WHERE {wanted} (r.first_at, r.id) < ($1, $2)
ORDER BY r.first_at DESC, r.id DESC LIMIT $3;

-- Subqueries and not joins, so that PostgreSQL looks up each one.
-- name: player_names, user_names {table: players|users}
SELECT g.id, (SELECT t.name FROM {table} t WHERE t.id = g.id)
FROM (SELECT CAST(value->>'id' AS {guid}) AS id FROM json_each($1)) AS g;

-- Changes of the evidence, with their players.
-- name: changes
SELECT r.seq, r.at, r.player_id, (SELECT p.name FROM players p WHERE p.id = r.player_id)
FROM json_each($1) AS wanted, {each} masked_ledger r WHERE r.seq = CAST(value->>'seq' AS {long}) {end_each};

-- name: delete_old
DELETE FROM signals WHERE id {any}
    SELECT id FROM signals WHERE state = 'acknowledged' AND first_at < $1 ORDER BY first_at, id LIMIT $2 {end_any} RETURNING 1;

-- The subject and the note may name the person.
-- name: erase_players, erase_givers {column: player_id|giver_id}
UPDATE signals SET subject = CAST(id AS TEXT), {column} = NULL, note = NULL
WHERE {column} {any} SELECT CAST(value->>'id' AS {guid}) FROM json_each($1) {end_any} AND {column} IS NOT NULL;

-- name: erase_gains, erase_checks {table: player_gains|signal_checks}
DELETE FROM {table}
WHERE player_id {any} SELECT CAST(value->>'id' AS {guid}) FROM json_each($1) {end_any} AND player_id IS NOT NULL;

-- name: of_person
SELECT s.first_at AS at, s.rule, p.name AS player, s.times, s.state, s.note
FROM players p JOIN signals s ON s.player_id = p.id WHERE p.user_id = $1
UNION ALL
SELECT s.first_at, s.rule, NULL, s.times, s.state, s.note FROM signals s WHERE s.giver_id = $1
ORDER BY 1, 2;

-- name: quantities
SELECT t.item_id, t.quantity FROM item_totals t
WHERE t.item_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1));

-- name: growth
SELECT r.item_id, r.slot, r.grown, r.changes
FROM json_each($1) AS wanted, {each} item_growth r WHERE r.item_id = CAST(value->>'id' AS {guid}) {end_each};

-- name: save_growth
INSERT INTO item_growth {rows: item_id guid, slot long, grown long, changes text}
ON CONFLICT (item_id, slot) DO UPDATE SET grown = excluded.grown, changes = excluded.changes;

-- name: forget_growth
DELETE FROM item_growth WHERE item_id IN (SELECT CAST(value->>'id' AS {guid}) FROM json_each($1)) AND slot < $2;

-- name: gains
SELECT r.player_id, r.item_id, r.slot, r.gained, r.changes
FROM json_each($1) AS wanted,
     {each} player_gains r WHERE r.player_id = CAST(value->>'player_id' AS {guid})
                           AND r.item_id = CAST(value->>'item_id' AS {guid}) {end_each};

-- name: save_gains
INSERT INTO player_gains {rows: player_id guid, item_id guid, slot long, gained long, changes text}
ON CONFLICT (player_id, item_id, slot) DO UPDATE SET gained = excluded.gained, changes = excluded.changes;

-- name: forget_gains
DELETE FROM player_gains WHERE slot < $1;

-- name: add_check
INSERT INTO signal_checks (rule, subject, at, player_id) VALUES ($1, $2, {now}, $3)
ON CONFLICT (rule, subject) DO NOTHING;

-- name: has_due_check
SELECT 1 FROM signal_checks WHERE rule = $1 AND at <= {now} - $2 ORDER BY at LIMIT 1;

-- Locked, so that one instance at a time examines them.
-- name: due_checks
SELECT rule, subject, at, player_id FROM signal_checks WHERE rule = $1 AND at <= {now} - $2 ORDER BY at LIMIT $3 {skip_locked};

-- name: delete_check
DELETE FROM signal_checks WHERE rule = $1 AND subject = $2;

-- name: bag_owner
SELECT player_id FROM bags WHERE id = $1;

-- name: refused
SELECT minute / 10, CAST(SUM(refused) AS {long}) FROM activity_minutes
WHERE minute >= $1 AND minute < $2 GROUP BY minute / 10 HAVING SUM(refused) > 0;

-- Items of which the totals at the ends of two days do not differ by what was created and destroyed in between.
-- The catalogue of a game bounds the number of items.
-- name: unbalanced
SELECT d.item_id, p.quantity, d.quantity, b.created, b.destroyed
FROM (SELECT t.item_id,
             (SELECT MAX(e.day) FROM item_days e WHERE e.item_id = t.item_id AND e.day < $1) AS before
      FROM item_totals t) AS i
JOIN item_days d ON d.item_id = i.item_id AND d.day = $1
JOIN item_days p ON p.item_id = i.item_id AND p.day = i.before
JOIN (SELECT t.item_id, CAST(COALESCE(SUM(f.created), 0) AS {long}) AS created,
             CAST(COALESCE(SUM(f.destroyed), 0) AS {long}) AS destroyed
      FROM item_totals t LEFT JOIN item_flows f ON f.item_id = t.item_id AND f.day <= $1
       AND f.day > (SELECT MAX(e.day) FROM item_days e WHERE e.item_id = t.item_id AND e.day < $1)
      GROUP BY t.item_id) AS b ON b.item_id = i.item_id
WHERE d.quantity - p.quantity <> b.created - b.destroyed ORDER BY d.item_id LIMIT $2;
