-- Accounts in the order of their emails: everybody needs a place in it.
-- only: sqlite
UPDATE users SET email_fold = char(1) || id WHERE email_fold IS NULL;
-- only: postgres
UPDATE users SET email_fold = chr(1) || CAST(id AS text) WHERE email_fold IS NULL;
-- only: postgres
ALTER TABLE users ALTER COLUMN email_fold SET NOT NULL;

-- only: sqlite
DROP TRIGGER users_listed;
-- only: sqlite
CREATE TRIGGER users_listed AFTER INSERT ON users WHEN (SELECT NOT loading FROM lists)
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('users', 0, 0, NEW.fold, 1), ('emails', 0, 0, NEW.email_fold, 1); END;
-- only: sqlite
DROP TRIGGER users_unlisted;
-- only: sqlite
CREATE TRIGGER users_unlisted AFTER DELETE ON users
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('users', 0, 0, OLD.fold, -1), ('emails', 0, 0, OLD.email_fold, -1); END;
-- only: sqlite
CREATE TRIGGER users_readdressed AFTER UPDATE OF email_fold ON users WHEN OLD.email_fold <> NEW.email_fold
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('emails', 0, 0, OLD.email_fold, -1), ('emails', 0, 0, NEW.email_fold, 1); END;

-- only: postgres
CREATE FUNCTION list_by_email() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      SELECT 'emails', 0, 0, word, step FROM (VALUES (OLD.email_fold, -1), (NEW.email_fold, 1)) AS sides (word, step)
      WHERE word IS NOT NULL AND (SELECT NOT loading FROM lists); RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER users_listed_by_email AFTER INSERT OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION list_by_email();
-- only: postgres
CREATE TRIGGER users_readdressed AFTER UPDATE OF email_fold ON users
FOR EACH ROW WHEN (OLD.email_fold <> NEW.email_fold) EXECUTE FUNCTION list_by_email();

-- Those online by their level.
ALTER TABLE presence ADD COLUMN level INTEGER NOT NULL DEFAULT 1;
ALTER TABLE presence ADD COLUMN exp {long} NOT NULL DEFAULT 0;
UPDATE presence SET level = p.level, exp = p.exp FROM players p WHERE p.id = presence.player_id;
CREATE INDEX presence_by_rank ON presence (level, exp, player_id);

-- only: sqlite
DROP TRIGGER presence_listed;
-- only: sqlite
CREATE TRIGGER presence_listed AFTER INSERT ON presence
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('online', 0, 0, NEW.fold, 1), ('online_rank', NEW.level, NEW.exp, NEW.player_id, 1); END;
-- only: sqlite
DROP TRIGGER presence_unlisted;
-- only: sqlite
CREATE TRIGGER presence_unlisted AFTER DELETE ON presence
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('online', 0, 0, OLD.fold, -1), ('online_rank', OLD.level, OLD.exp, OLD.player_id, -1); END;
-- only: sqlite
CREATE TRIGGER presence_ranked AFTER UPDATE OF level, exp ON presence
WHEN (OLD.level, OLD.exp) <> (NEW.level, NEW.exp)
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('online_rank', OLD.level, OLD.exp, OLD.player_id, -1),
             ('online_rank', NEW.level, NEW.exp, NEW.player_id, 1); END;

-- only: postgres
CREATE FUNCTION list_online_by_rank() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      SELECT 'online_rank', level, exp, word, step
      FROM (VALUES (OLD.level, OLD.exp, OLD.player_id::text, -1), (NEW.level, NEW.exp, NEW.player_id::text, 1))
           AS sides (level, exp, word, step)
      WHERE word IS NOT NULL AND (SELECT NOT loading FROM lists); RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER presence_listed_by_rank AFTER INSERT OR DELETE ON presence
FOR EACH ROW EXECUTE FUNCTION list_online_by_rank();
-- only: postgres
CREATE TRIGGER presence_ranked AFTER UPDATE OF level, exp ON presence
FOR EACH ROW WHEN ((OLD.level, OLD.exp) <> (NEW.level, NEW.exp)) EXECUTE FUNCTION list_online_by_rank();

-- How long each character was played: an account's record has the sum.
ALTER TABLE players ADD COLUMN play_time {long} NOT NULL DEFAULT 0;
UPDATE players
SET play_time = COALESCE(CAST(CAST(CAST(document AS TEXT) AS {json})->>'PlayTimeSeconds' AS {long}), 0);

DROP VIEW user_records;
CREATE VIEW user_records AS
SELECT u.id, u.name, u.fold, u.email, u.password, u.editor, u.ban, u.kick, u.mute, u.api,
       u.users_query, u.users_manage, u.game_link, u.created_at, m.reason AS mute_reason, r.code AS reset_code,
       b.reason AS ban_reason,
       (SELECT COALESCE(SUM(CAST(p.play_time AS DOUBLE PRECISION)), 0) FROM players p WHERE p.user_id = u.id) AS play_time
FROM users u
LEFT JOIN mutes m ON m.user_id = u.id AND (m.ends_at IS NULL OR m.ends_at > {now})
LEFT JOIN bans b ON b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now})
LEFT JOIN resets r ON r.user_id = u.id AND r.expires_at > {now} AND r.tries_left > 0;

-- Two lists more: they are counted anew.
UPDATE lists SET loads = loads + 1;

-- Characters and accounts by any three letters of a name or an email.
-- only: sqlite
CREATE VIRTUAL TABLE players_by_part USING fts5 (
    fold, content = 'players', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0
);
-- only: sqlite
INSERT INTO players_by_part (players_by_part) VALUES ('rebuild');
-- only: sqlite
CREATE TRIGGER players_by_part_added AFTER INSERT ON players
BEGIN INSERT INTO players_by_part (rowid, fold) VALUES (NEW.rowid, NEW.fold); END;
-- only: sqlite
CREATE TRIGGER players_by_part_removed AFTER DELETE ON players
BEGIN INSERT INTO players_by_part (players_by_part, rowid, fold) VALUES ('delete', OLD.rowid, OLD.fold); END;
-- only: sqlite
CREATE TRIGGER players_by_part_renamed AFTER UPDATE OF fold ON players WHEN OLD.fold <> NEW.fold
BEGIN INSERT INTO players_by_part (players_by_part, rowid, fold)
      VALUES ('delete', OLD.rowid, OLD.fold), (NULL, NEW.rowid, NEW.fold); END;
-- only: sqlite
CREATE VIRTUAL TABLE users_by_part USING fts5 (
    fold, email_fold, content = 'users', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0
);
-- only: sqlite
INSERT INTO users_by_part (users_by_part) VALUES ('rebuild');
-- only: sqlite
CREATE TRIGGER users_by_part_added AFTER INSERT ON users
BEGIN INSERT INTO users_by_part (rowid, fold, email_fold) VALUES (NEW.rowid, NEW.fold, NEW.email_fold); END;
-- only: sqlite
CREATE TRIGGER users_by_part_removed AFTER DELETE ON users
BEGIN INSERT INTO users_by_part (users_by_part, rowid, fold, email_fold)
      VALUES ('delete', OLD.rowid, OLD.fold, OLD.email_fold); END;
-- only: sqlite
CREATE TRIGGER users_by_part_renamed AFTER UPDATE OF fold, email_fold ON users
WHEN (OLD.fold, OLD.email_fold) <> (NEW.fold, NEW.email_fold)
BEGIN INSERT INTO users_by_part (users_by_part, rowid, fold, email_fold)
      VALUES ('delete', OLD.rowid, OLD.fold, OLD.email_fold), (NULL, NEW.rowid, NEW.fold, NEW.email_fold); END;

-- The index is made of rows as they were before this, too: an email may be null in those.
-- only: postgres
CREATE FUNCTION search_parts(id uuid, VARIADIC words text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE tier text := LEAST(length(CAST(id AS text)) - length(rtrim(CAST(id AS text), '0')), 5)
; parts text[] := '{}'; word text
; BEGIN FOREACH word IN ARRAY words
        LOOP FOR n IN 1 .. COALESCE(length(split_part(word, chr(1), 1)), 0) - 2
             LOOP parts := parts || (tier || substr(word, n, 3)); END LOOP; END LOOP
; RETURN parts; END $$;
-- only: postgres
CREATE INDEX players_by_part ON players USING gin (search_parts(id, fold)) WITH (fastupdate = off);
-- only: postgres
CREATE INDEX users_by_part ON users USING gin (search_parts(id, fold, email_fold)) WITH (fastupdate = off);
