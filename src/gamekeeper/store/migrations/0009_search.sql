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

-- One list more: they are counted anew.
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

-- only: postgres
CREATE FUNCTION search_parts(id uuid, VARIADIC words text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE tier text := LEAST(length(CAST(id AS text)) - length(rtrim(CAST(id AS text), '0')), 5)
; parts text[] := '{}'; word text
; BEGIN FOREACH word IN ARRAY words
        LOOP FOR n IN 1 .. length(split_part(word, chr(1), 1)) - 2
             LOOP parts := parts || (tier || substr(word, n, 3)); END LOOP; END LOOP
; RETURN parts; END $$;
-- only: postgres
CREATE INDEX players_by_part ON players USING gin (search_parts(id, fold)) WITH (fastupdate = off);
-- only: postgres
CREATE INDEX users_by_part ON users USING gin (search_parts(id, fold, email_fold)) WITH (fastupdate = off);
