-- Play sessions: when each player was online, and on which game server. Triggers on `presence` write them, so that a
-- session is in the transaction of its presence, also when an older version writes that. Without references: a session
-- stays when its player is deleted, and an undo of the deletion finds it again.
CREATE TABLE play_sessions (
    player_id   {guid} NOT NULL,                  -- of an erased person: a random id
    started_at  {long} NOT NULL,                  -- never before the end of the player's previous session
    server      TEXT NOT NULL,
    ended_at    {long},                           -- null: the player is online
    counted_to  {long},                           -- its time is in the rollups up to here; null: nothing of it
    counted     {boolean} NOT NULL DEFAULT {false}, -- it has ended, and all of it is in the rollups
    PRIMARY KEY (player_id, started_at)
) {clustered};
CREATE UNIQUE INDEX play_sessions_open ON play_sessions (player_id) WHERE ended_at IS NULL;
CREATE INDEX play_sessions_waiting ON play_sessions (started_at, player_id)
WHERE NOT counted AND (ended_at IS NOT NULL OR counted_to IS NULL);
CREATE INDEX play_sessions_continuing ON play_sessions (counted_to) WHERE ended_at IS NULL AND counted_to IS NOT NULL;
CREATE INDEX play_sessions_by_age ON play_sessions (ended_at) WHERE counted;
-- Planner statistics: as for the ledger, nearly all sessions may be of one player.
-- only: postgres
ALTER TABLE play_sessions ALTER COLUMN player_id SET (n_distinct = -0.01);

-- Activity of each player that was ever online: what the rollups need to know of earlier days, and its play time.
CREATE TABLE player_activity (
    player_id  {guid} PRIMARY KEY,
    first_day  {long} NOT NULL,                   -- days since 1970, UTC: first and last day with a session
    last_day   {long} NOT NULL,
    is_new     {boolean} NOT NULL,                -- false: the player is older than the record of sessions
    play_ms    {long} NOT NULL                    -- sum of all its sessions, deleted ones included
) {strict};
-- Checkpoints of the rollups. A step locks its row and moves it in the transaction of its numbers.
CREATE TABLE rollups (
    name      TEXT PRIMARY KEY,
    position  {long} NOT NULL,                    -- everything before it is counted; the unit depends on the rollup
    value     {long} NOT NULL
) {strict};
-- activity: time since which sessions are recorded, and time before which old ones were deleted. online: first minute that is not in the hours yet, and the number
-- of players online when it began. sign_ins: first hour whose sign-ins are not counted.
--: economy_day, inserted by the first count of the economy: the newest day of which it has counted a change, and the number of
--: the first one.
INSERT INTO rollups (name, position, value)
SELECT 'activity', {now}, 0 UNION ALL SELECT 'online', {now} / 60000, 0 UNION ALL SELECT 'sign_ins', {now} / 3600000, 0;
-- Minutes since 1970 in which something happened.
CREATE TABLE activity_minutes (
    minute    {long} PRIMARY KEY,
    started   {long} NOT NULL DEFAULT 0,          -- play sessions
    ended     {long} NOT NULL DEFAULT 0,
    requests  {long} NOT NULL DEFAULT 0,
    errors    {long} NOT NULL DEFAULT 0
) {strict};
-- Hours since 1970. Players online at the end of each of the 60 minutes: their sum, least and greatest number.
CREATE TABLE activity_hours (
    hour        {long} PRIMARY KEY,
    online_sum  {long} NOT NULL DEFAULT 0,
    online_min  {long} NOT NULL DEFAULT 0,
    online_max  {long} NOT NULL DEFAULT 0,
    requests    {long} NOT NULL DEFAULT 0,
    errors      {long} NOT NULL DEFAULT 0,
    sign_ins    {long} NOT NULL DEFAULT 0
) {strict};
-- Days, weeks and months by their first day.
CREATE TABLE activity_periods (
    step        TEXT NOT NULL CHECK (step IN ('day', 'week', 'month')),
    day         {long} NOT NULL,
    active      {long} NOT NULL DEFAULT 0,
    new_players {long} NOT NULL DEFAULT 0,
    returned    {long} NOT NULL DEFAULT 0,
    play_ms     {long} NOT NULL DEFAULT 0,
    sign_ins    {long} NOT NULL DEFAULT 0,
    requests    {long} NOT NULL DEFAULT 0,
    errors      {long} NOT NULL DEFAULT 0,
    online_sum  {long} NOT NULL DEFAULT 0,        -- as in activity_hours
    online_max  {long} NOT NULL DEFAULT 0,
    PRIMARY KEY (step, day)
) {clustered};
-- New players by their first day, and how many of them were online 1, 7 and 30 days after it.
CREATE TABLE activity_cohorts (
    day      {long} PRIMARY KEY,
    players  {long} NOT NULL DEFAULT 0,
    day1     {long} NOT NULL DEFAULT 0,
    day7     {long} NOT NULL DEFAULT 0,
    day30    {long} NOT NULL DEFAULT 0
) {strict};

-- Older instances serve meanwhile: without the lock, a player who leaves before the triggers exist would stay in a session.
-- only: postgres
LOCK TABLE presence IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO play_sessions (player_id, started_at, server) SELECT player_id, {now}, server FROM presence;
-- A session ends with the lease of its game server if that has expired. A new session first ends one that is still open,
-- and cuts one that ends in the future: the clock was ahead. It ignores sessions that start more than a minute from now,
-- and starts a millisecond after the last one at the earliest. A bulk load writes sessions itself.
-- only: sqlite
CREATE TRIGGER presence_begun AFTER INSERT ON presence WHEN (SELECT NOT loading FROM lists)
BEGIN UPDATE play_sessions
      SET ended_at = MAX(started_at, MIN({now}, COALESCE((SELECT s.expires_at FROM servers s WHERE s.name = play_sessions.server), {now})))
      WHERE player_id = NEW.player_id AND ended_at IS NULL
    ; UPDATE play_sessions SET ended_at = MAX(started_at, {now})
      WHERE player_id = NEW.player_id AND ended_at > {now}
        AND started_at = (SELECT MAX(s.started_at) FROM play_sessions s
                          WHERE s.player_id = NEW.player_id AND s.started_at <= {now} + 60000)
    ; INSERT INTO play_sessions (player_id, started_at, server)
      SELECT NEW.player_id, MAX({now}, COALESCE((SELECT MAX(s.started_at) + 1 FROM play_sessions s
                                                 WHERE s.player_id = NEW.player_id AND s.started_at <= {now} + 60000), 0)),
             NEW.server; END;
-- only: sqlite
CREATE TRIGGER presence_ended AFTER DELETE ON presence
BEGIN UPDATE play_sessions
      SET ended_at = MAX(started_at, MIN({now}, COALESCE((SELECT s.expires_at FROM servers s WHERE s.name = OLD.server), {now})))
      WHERE player_id = OLD.player_id AND ended_at IS NULL; END;
-- only: sqlite
CREATE TRIGGER presence_moved AFTER UPDATE OF server ON presence WHEN OLD.server <> NEW.server
BEGIN UPDATE play_sessions
      SET ended_at = MAX(started_at, MIN({now}, COALESCE((SELECT s.expires_at FROM servers s WHERE s.name = OLD.server), {now})))
      WHERE player_id = OLD.player_id AND ended_at IS NULL
    ; INSERT INTO play_sessions (player_id, started_at, server)
      SELECT NEW.player_id, MAX({now}, COALESCE((SELECT MAX(s.started_at) + 1 FROM play_sessions s
                                                 WHERE s.player_id = NEW.player_id AND s.started_at <= {now} + 60000), 0)),
             NEW.server; END;
-- only: postgres
CREATE FUNCTION record_session() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE player {guid} := CASE WHEN TG_OP = 'DELETE' THEN OLD.player_id ELSE NEW.player_id END
; last {long}
; BEGIN
  IF TG_OP <> 'INSERT' OR (SELECT NOT loading FROM lists) THEN
      UPDATE play_sessions
      SET ended_at = GREATEST(started_at, LEAST({now}, (SELECT s.expires_at FROM servers s WHERE s.name = play_sessions.server)))
      WHERE player_id = player AND ended_at IS NULL
; END IF
; IF TG_OP <> 'DELETE' AND (SELECT NOT loading FROM lists) THEN
      SELECT MAX(s.started_at) INTO last FROM play_sessions s WHERE s.player_id = player AND s.started_at <= {now} + 60000
    ; UPDATE play_sessions SET ended_at = GREATEST(started_at, {now})
      WHERE player_id = player AND started_at = last AND ended_at > {now}
    ; INSERT INTO play_sessions (player_id, started_at, server) VALUES (player, GREATEST({now}, last + 1), NEW.server)
; END IF
; RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER presence_recorded AFTER INSERT OR DELETE ON presence FOR EACH ROW EXECUTE FUNCTION record_session();
-- only: postgres
CREATE TRIGGER presence_moved AFTER UPDATE OF server ON presence
FOR EACH ROW WHEN (OLD.server <> NEW.server) EXECUTE FUNCTION record_session();
