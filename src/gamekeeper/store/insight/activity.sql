-- part: waiting_sessions
FROM play_sessions s WHERE NOT s.counted AND (s.ended_at IS NOT NULL OR s.counted_to IS NULL)
  AND s.started_at <= {now} + 60000 AND COALESCE(s.ended_at, 0) <= {now} + 60000
ORDER BY s.started_at, s.player_id;

-- part: continuing_sessions
FROM play_sessions s WHERE s.ended_at IS NULL AND s.counted_to IS NOT NULL AND s.counted_to < $1
  AND EXISTS (SELECT 1 FROM servers v WHERE v.name = s.server AND v.expires_at > {now}) ORDER BY s.counted_to;

-- Sessions that have started or ended since they were counted, in order of their start: those of one player too. Not those
-- in the future, of a clock that was ahead: they would be counted for days that are still to come.
-- The ORDER BY makes PostgreSQL use the index; without it, it would scan the table for a rare row.
-- name: has_waiting
SELECT 1 {waiting_sessions} LIMIT 1;

-- Locked rows are skipped: they belong to a player that is just leaving, and the rollup does not wait for locks.
-- name: waiting
SELECT s.player_id, s.started_at, s.ended_at, s.counted_to, (SELECT p.created_at FROM players p WHERE p.id = s.player_id)
{waiting_sessions} LIMIT $1 {skip_locked};

-- Sessions that last since before $1, on game servers with a lease: without one they have ended already.
-- name: has_continuing
SELECT 1 {continuing_sessions} LIMIT 1;

-- name: continuing
SELECT s.player_id, s.started_at, s.ended_at, s.counted_to, NULL {continuing_sessions} LIMIT $2 {skip_locked};

-- name: players
SELECT r.player_id, r.first_day, r.last_day, r.is_new, r.play_ms
FROM json_each($1) AS wanted, {each} player_activity r WHERE r.player_id = CAST(value->>'id' AS {guid}) {end_each};

-- name: last_counted
SELECT CASE WHEN counted AND counted_to > started_at THEN counted_to - 1 ELSE counted_to END FROM play_sessions
WHERE player_id = $1 AND started_at <= {now} AND counted_to IS NOT NULL ORDER BY started_at DESC LIMIT 1;

-- name: save_sessions
UPDATE play_sessions SET counted_to = given.counted_to, counted = given.counted
FROM (SELECT CAST(value->>'player_id' AS {guid}) AS player_id, CAST(value->>'started_at' AS {long}) AS started_at,
             CAST(value->>'counted_to' AS {long}) AS counted_to, CAST(value->>'is_counted' AS {boolean}) AS counted
      FROM json_each($1)) AS given
WHERE play_sessions.player_id = given.player_id AND play_sessions.started_at = given.started_at;

-- name: save_players
INSERT INTO player_activity {rows: player_id guid, first_day long, last_day long, is_new boolean, play_ms long}
ON CONFLICT (player_id) DO UPDATE SET last_day = excluded.last_day, play_ms = excluded.play_ms;

-- Adds to the numbers of started and ended sessions; or to those of requests, for a load of a database's past.
-- name: add_minutes, load_requests {one: started|requests} {other: ended|errors}
INSERT INTO activity_minutes {rows: minute long, {one} long, {other} long}
ON CONFLICT (minute) DO UPDATE SET {one} = activity_minutes.{one} + excluded.{one},
    {other} = activity_minutes.{other} + excluded.{other};

-- name: add_requests
INSERT INTO activity_minutes (minute, requests, errors, refused) VALUES ({now} / 60000, $1, $2, $3)
ON CONFLICT (minute) DO UPDATE SET requests = activity_minutes.requests + excluded.requests,
    errors = activity_minutes.errors + excluded.errors, refused = activity_minutes.refused + excluded.refused;

-- name: add_periods
INSERT INTO activity_periods {rows: step text, day long, active long, new_players long, returned long, play_ms long,
    sign_ins long, requests long, errors long, online_sum long, online_max long}
ON CONFLICT (step, day) DO UPDATE SET active = activity_periods.active + excluded.active,
    new_players = activity_periods.new_players + excluded.new_players,
    returned = activity_periods.returned + excluded.returned, play_ms = activity_periods.play_ms + excluded.play_ms,
    sign_ins = activity_periods.sign_ins + excluded.sign_ins, requests = activity_periods.requests + excluded.requests,
    errors = activity_periods.errors + excluded.errors, online_sum = activity_periods.online_sum + excluded.online_sum,
    online_max = CASE WHEN excluded.online_max > activity_periods.online_max THEN excluded.online_max
                      ELSE activity_periods.online_max END;

-- name: add_cohorts
INSERT INTO activity_cohorts {rows: day long, players long, day1 long, day7 long, day30 long}
ON CONFLICT (day) DO UPDATE SET players = activity_cohorts.players + excluded.players,
    day1 = activity_cohorts.day1 + excluded.day1, day7 = activity_cohorts.day7 + excluded.day7,
    day30 = activity_cohorts.day30 + excluded.day30;

-- Each hour gets its number of players once; the row may exist already with the sign-ins of the hour.
-- name: save_hours
INSERT INTO activity_hours {rows: hour long, online_sum long, online_min long, online_max long, requests long,
    errors long}
ON CONFLICT (hour) DO UPDATE SET online_sum = excluded.online_sum, online_min = excluded.online_min,
    online_max = excluded.online_max, requests = excluded.requests, errors = excluded.errors;

-- name: save_sign_ins
INSERT INTO activity_hours {rows: hour long, sign_ins long}
ON CONFLICT (hour) DO UPDATE SET sign_ins = excluded.sign_ins;

-- name: count_sign_ins
SELECT COUNT(*) FROM security_events WHERE kind = 'sign_in' AND at >= $1 AND at < $2;

-- For the doctor.
-- name: count_sign_ins_by_hour
SELECT at / 3600000, COUNT(*) FROM security_events WHERE kind = 'sign_in' AND at >= $1 AND at < $2 GROUP BY at / 3600000;

-- name: oldest_event
SELECT at FROM security_events ORDER BY at, id LIMIT 1;

-- name: delete_minutes
DELETE FROM activity_minutes WHERE minute < $1;

-- name: delete_hours
DELETE FROM activity_hours WHERE hour < $1;

-- name: minutes
SELECT minute, started, ended, requests, errors FROM activity_minutes WHERE minute >= $1 AND minute < $2 ORDER BY minute;

-- name: hours
SELECT hour, online_sum, online_min, online_max, requests, errors, sign_ins FROM activity_hours
WHERE hour >= $1 AND hour < $2 ORDER BY hour;

-- name: periods
SELECT day, active, new_players, returned, play_ms, sign_ins, requests, errors, online_sum, online_max
FROM activity_periods WHERE step = $1 AND day >= $2 AND day < $3 ORDER BY day;

-- name: cohorts
SELECT day, players, day1, day7, day30 FROM activity_cohorts WHERE day >= $1 AND day < $2 ORDER BY day;

-- name: of_person
SELECT player_id, first_day, last_day, is_new, play_ms FROM player_activity WHERE player_id = $1;

-- name: find
SELECT position, value FROM rollups WHERE name = $1;

-- No row: another instance runs a step of this rollup.
-- name: lock
SELECT position, value FROM rollups WHERE name = $1 {skip_locked};

-- name: move
UPDATE rollups SET position = $2, value = $3 WHERE name = $1;

-- name: save
INSERT INTO rollups (name, position, value) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET position = excluded.position, value = excluded.value;

-- A copy has its own checkpoints.
-- name: clear
DELETE FROM rollups;

-- The checkpoint of a rollup that has none, with the present time.
-- name: begin
INSERT INTO rollups (name, position, value) SELECT $1, {now}, 0 WHERE {true} ON CONFLICT (name) DO NOTHING;

-- name: wait
SELECT position, value FROM rollups WHERE name = $1 {for_update};
