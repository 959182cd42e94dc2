-- name: insert
INSERT INTO bulk_jobs (id, state, act, details, reason, creator_id, token_id, undoes, approved, players, done, refused, held,
                       not_found, repeated, created_at)
VALUES ($1, 'previewed', $2, $3, $4, $5, $6, $7, {false}, $8, 0, 0, 0, $9, $10, $11);

-- name: insert_targets
INSERT INTO bulk_targets (job_id, number, state, player_id, given)
SELECT CAST($1 AS {guid}), CAST(value->>'number' AS INTEGER), value->>'state', CAST(value->>'player' AS {guid}), value->>'given'
FROM json_each($2);

-- Targets of a job that undoes another one: those of its changes ($3) that are not undone yet, in the same order.
-- name: insert_undos
INSERT INTO bulk_targets (job_id, number, state, player_id, undoes)
SELECT CAST($1 AS {guid}), number, 'waiting', player_id, seq FROM bulk_targets
WHERE job_id = $2 AND state = 'done' AND seq IS NOT NULL
AND seq IN (SELECT CAST(value->>'seq' AS {long}) FROM json_each($3));

-- name: changes
SELECT seq FROM bulk_targets WHERE job_id = $1 AND seq IS NOT NULL;

-- Stores that change $1 is undone, by the job $2 or by a single undo; and with $3 = -1 what follows if it is an undo itself:
-- the change that it undid is no longer undone. The one before that is undone again, and so on.
-- name: mark_undone
UPDATE bulk_targets SET undone_at = CASE WHEN $3 > 0 THEN {now} END, undone_by = CASE WHEN $3 > 0 THEN CAST($2 AS {guid}) END
WHERE seq IS NOT NULL AND seq IN (
    WITH RECURSIVE flipped (seq, sign) AS (
        SELECT $1, 1
        UNION ALL
        SELECT l.undoes, -flipped.sign FROM flipped JOIN ledger l ON l.seq = flipped.seq WHERE l.undoes IS NOT NULL)
    SELECT seq FROM flipped WHERE sign = $3);

-- name: mark_undone (postgres)
UPDATE bulk_targets SET undone_at = CASE WHEN $3 > 0 THEN {now} END, undone_by = CASE WHEN $3 > 0 THEN CAST($2 AS {guid}) END
WHERE seq IS NOT NULL AND seq = ANY(ARRAY(
    WITH RECURSIVE flipped (seq, sign) AS (
        SELECT CAST($1 AS {long}), 1
        UNION ALL
        SELECT r.undoes, -flipped.sign
        FROM flipped, {each} ledger r WHERE r.seq = flipped.seq AND r.undoes IS NOT NULL {end_each})
    SELECT seq FROM flipped WHERE sign = CAST($3 AS INTEGER)));

-- Gives the undos of a job a time of the past, for the demo.
-- name: backdate_undos
UPDATE bulk_targets SET undone_at = $2 WHERE job_id = (SELECT undoes FROM bulk_jobs WHERE id = $1) AND undone_by = $1;

-- The number of changes of a job, of those that are undone, and the time of the last undo. Only an index is read.
-- name: count_undone
SELECT COUNT(*), COUNT(undone_at), MAX(undone_at) FROM bulk_targets WHERE job_id = $1 AND seq IS NOT NULL;

-- name: undone_by
SELECT undone_by FROM bulk_targets WHERE job_id = $1 AND undone_at = $2 AND seq IS NOT NULL LIMIT 1;

-- Whether a job has changes, and all of them are undone.
-- name: is_undone
SELECT EXISTS (SELECT 1 FROM bulk_targets WHERE job_id = $1 AND seq IS NOT NULL AND undone_at IS NOT NULL)
   AND NOT EXISTS (SELECT 1 FROM bulk_targets WHERE job_id = $1 AND seq IS NOT NULL AND undone_at IS NULL);

-- Targets that wait for these approvals. An approval is about a player, or about the account of the target's player.
-- name: held
WITH given AS (SELECT r.id AS approval_id, r.player_id, r.user_id
               FROM json_each($1) AS wanted, {each} approvals r WHERE r.id = CAST(wanted.value->>'id' AS {guid}) {end_each})
SELECT r.job_id, r.number, own.approval_id
FROM (SELECT approval_id, player_id FROM given WHERE player_id IS NOT NULL
      UNION
      SELECT given.approval_id, r.id FROM given, {each} players r WHERE r.user_id = given.user_id {end_each}) AS own,
     {each} bulk_targets r WHERE r.player_id = own.player_id AND r.approval_id = own.approval_id AND r.state = 'held' {end_each};

-- name: refuse_held
UPDATE bulk_targets SET state = 'refused', code = $2, problem = $3
WHERE (job_id, number) IN (SELECT CAST(value->>'job' AS {guid}), CAST(value->>'number' AS INTEGER) FROM json_each($1));

-- PostgreSQL would join the targets by reading all of them.
-- name: refuse_held (postgres)
UPDATE bulk_targets SET state = 'refused', code = $2, problem = $3
FROM (SELECT CAST(value->>'job' AS {guid}) AS job_id, CAST(value->>'number' AS INTEGER) AS number FROM json_each($1)) AS given
WHERE bulk_targets.job_id = given.job_id AND bulk_targets.number = given.number;

-- name: add_settled
UPDATE bulk_jobs SET done = done + $2, refused = refused + $3, held = held - $2 - $3 WHERE id = $1;

-- Players by name, as in players.sql: the exact spelling, or the fold without a clash suffix.
-- name: players_by_name
SELECT CAST(given.value->>'at' AS {long}), r.id, r.fold, r.name = given.value->>'name'
FROM json_each($1) AS given,
     {each} players r WHERE r.fold >= given.value->>'fold' AND r.fold < given.value->>'end'
                      AND (r.name = given.value->>'name' OR r.fold = given.value->>'fold') {end_each};

-- name: players_by_id
SELECT r.id FROM json_each($1) AS given, {each} players r WHERE r.id = CAST(given.value->>'id' AS {guid}) {end_each};

-- name: online
SELECT player_id FROM presence WHERE fold >= '' ORDER BY fold, player_id LIMIT $1;

-- part: job
j.id, j.act, j.details, j.reason, j.creator_id, (SELECT u.name FROM users u WHERE u.id = j.creator_id), j.token_id, j.undoes,
j.players, j.not_found, j.repeated, j.created_at, j.state, j.approved, j.problem, j.done, j.refused, j.held, j.started_at,
j.ended_at
FROM bulk_jobs j;

-- name: find
SELECT {job} WHERE j.id = $1;

-- name: lock
SELECT {job} WHERE j.id = $1 {for_update};

-- Jobs before the cursor ($1 time, $2 id), newest first.
-- name: page
SELECT {job} WHERE (j.created_at, j.id) < ($1, $2) ORDER BY j.created_at DESC, j.id DESC LIMIT $3;

-- name: running
SELECT {job} WHERE j.state = 'running' AND j.created_at >= 0 ORDER BY j.created_at, j.id LIMIT $1;

-- The state of the job, or `former` if it was started in a former epoch. No row: another instance is working on it.
-- name: claim (sqlite)
SELECT CASE WHEN state = 'running' AND epoch <> (SELECT e.id FROM epoch e WHERE e.one = 1) THEN 'former' ELSE state END
FROM bulk_jobs WHERE id = $1;

-- name: claim (postgres)
SELECT CASE WHEN state = 'running' AND epoch <> (SELECT e.id FROM epoch e WHERE e.one = 1) THEN 'former' ELSE state END
FROM bulk_jobs WHERE id = $1 FOR UPDATE SKIP LOCKED;

-- name: target_state
SELECT state FROM bulk_targets WHERE job_id = $1 AND number = $2;

-- name: waiting
SELECT number, player_id, undoes FROM bulk_targets WHERE job_id = $1 AND state = 'waiting' ORDER BY number LIMIT $2;

-- part: target
t.number, t.state, t.player_id, (SELECT p.name FROM players p WHERE p.id = t.player_id), t.given, t.seq, t.undoes,
t.approval_id, t.code, t.problem, NULL;

-- name: targets
SELECT {target}
FROM bulk_targets t WHERE t.job_id = $1 AND t.number > $2 ORDER BY t.number LIMIT $3;

-- `unlikely`: otherwise SQLite would read all targets of the job in order, to save the look-up of each in the index.
-- name: targets_in_state (sqlite)
SELECT {target}
FROM bulk_targets t WHERE t.job_id = $1 AND t.number > $2 AND unlikely(t.state = $4) ORDER BY t.number LIMIT $3;

-- name: targets_in_state (postgres)
SELECT {target}
FROM bulk_targets t WHERE t.job_id = $1 AND t.number > $2 AND t.state = $4 ORDER BY t.number LIMIT $3;

-- name: set_target
UPDATE bulk_targets SET state = $3, seq = $4, approval_id = $5, code = $6, problem = $7 WHERE job_id = $1 AND number = $2;

-- name: add_counts
UPDATE bulk_jobs SET done = done + $2, refused = refused + $3, held = held + $4 WHERE id = $1;

-- name: start
UPDATE bulk_jobs SET state = 'running', problem = NULL, started_at = $2, approved = $3,
                     epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) WHERE id = $1;

-- name: pause
UPDATE bulk_jobs SET state = 'paused', problem = $2 WHERE id = $1;

-- Pauses the running jobs that were started in a former epoch.
-- name: pause_former
UPDATE bulk_jobs SET state = 'paused', problem = $1
WHERE state = 'running' AND created_at >= 0 AND epoch <> (SELECT e.id FROM epoch e WHERE e.one = 1);

-- name: stop
UPDATE bulk_jobs SET state = $2, problem = NULL, ended_at = $3 WHERE id = $1;

-- Removes what names an erased person: texts of refusals, and the reasons of the jobs that it created.
-- name: erase_targets
UPDATE bulk_targets SET given = NULL, problem = NULL
WHERE player_id {any} SELECT CAST(value->>'id' AS {guid}) FROM json_each($1) {end_any} AND player_id IS NOT NULL;

-- name: erase_jobs
UPDATE bulk_jobs SET reason = NULL, problem = NULL WHERE creator_id = $1;

-- name: oldest
SELECT id FROM bulk_jobs WHERE created_at < $1 AND state <> 'running' ORDER BY created_at, id LIMIT 1 {for_update};

-- The jobs of an account that wait for their start, up to $2.
-- name: count_previewed
SELECT COUNT(*) FROM (SELECT 1 FROM bulk_jobs WHERE creator_id = $1 AND state = 'previewed' LIMIT $2) AS found;

-- The oldest job before $1 that was never started, unless an approval of its start waits: its preview names the job.
-- name: oldest_preview
SELECT j.id FROM bulk_jobs j
WHERE j.state = 'previewed' AND j.created_at < $1
  AND NOT EXISTS (SELECT 1 FROM approvals a WHERE a.actor_id = j.creator_id AND a.state = 'waiting' AND a.expires_at > {now}
                  AND CAST(a.preview AS TEXT) LIKE '%' || CAST(j.id AS TEXT) || '%')
ORDER BY j.created_at, j.id LIMIT 1 {for_update};

-- name: delete_targets
DELETE FROM bulk_targets WHERE job_id = $1;

-- name: delete
DELETE FROM bulk_jobs WHERE id = $1;

-- name: of_person
SELECT id, act, details, state, reason, players, done, created_at, started_at, ended_at
FROM bulk_jobs WHERE creator_id = $1 ORDER BY created_at, id;

-- name: targets_of_person
SELECT r.job_id, r.number, r.player_id, r.state, r.seq, r.problem
FROM (SELECT id FROM players WHERE user_id = $1) AS own, {each} bulk_targets r WHERE r.player_id = own.id {end_each}
ORDER BY r.job_id, r.number;
