-- The ordered lists: which page begins where, without counting. What store/lists.sql says of them is kept here.
CREATE TABLE lists (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    number   INTEGER NOT NULL,
    mark     TEXT NOT NULL,
    loads    INTEGER NOT NULL,
    built    INTEGER NOT NULL,
    loading  {boolean} NOT NULL,
    cluster  TEXT NOT NULL
) {strict};
INSERT INTO lists (one, number, mark, loads, built, loading, cluster) VALUES (1, 0, {never}, 1, 0, {false}, '');

CREATE TABLE list_blocks (
    list     TEXT NOT NULL,
    place    INTEGER NOT NULL,
    buckets  {json} NOT NULL,
    PRIMARY KEY (list, place)
) {clustered};

CREATE TABLE list_changes (
    mark   {list_mark},
    list   TEXT NOT NULL,
    level  {long} NOT NULL,
    exp    {long} NOT NULL,
    word   {ordered} NOT NULL,
    step   INTEGER NOT NULL CHECK (step IN (-1, 1))
) {strict};
-- only: postgres
CREATE INDEX list_changes_by_mark ON list_changes (mark);

-- only: sqlite
CREATE TRIGGER players_listed AFTER INSERT ON players WHEN (SELECT NOT loading FROM lists)
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('rank', NEW.level, NEW.exp, NEW.id, 1), ('names', 0, 0, NEW.fold, 1); END;
-- only: sqlite
CREATE TRIGGER players_unlisted AFTER DELETE ON players
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('rank', OLD.level, OLD.exp, OLD.id, -1), ('names', 0, 0, OLD.fold, -1); END;
-- only: sqlite
CREATE TRIGGER players_ranked AFTER UPDATE OF level, exp ON players
WHEN (OLD.level, OLD.exp) <> (NEW.level, NEW.exp)
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('rank', OLD.level, OLD.exp, OLD.id, -1), ('rank', NEW.level, NEW.exp, NEW.id, 1); END;
-- only: sqlite
CREATE TRIGGER players_renamed AFTER UPDATE OF fold ON players WHEN OLD.fold <> NEW.fold
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('names', 0, 0, OLD.fold, -1), ('names', 0, 0, NEW.fold, 1); END;
-- only: sqlite
CREATE TRIGGER users_listed AFTER INSERT ON users WHEN (SELECT NOT loading FROM lists)
BEGIN INSERT INTO list_changes (list, level, exp, word, step) VALUES ('users', 0, 0, NEW.fold, 1); END;
-- only: sqlite
CREATE TRIGGER users_unlisted AFTER DELETE ON users
BEGIN INSERT INTO list_changes (list, level, exp, word, step) VALUES ('users', 0, 0, OLD.fold, -1); END;
-- only: sqlite
CREATE TRIGGER users_renamed AFTER UPDATE OF fold ON users WHEN OLD.fold <> NEW.fold
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('users', 0, 0, OLD.fold, -1), ('users', 0, 0, NEW.fold, 1); END;
-- only: sqlite
CREATE TRIGGER presence_listed AFTER INSERT ON presence
BEGIN INSERT INTO list_changes (list, level, exp, word, step) VALUES ('online', 0, 0, NEW.fold, 1); END;
-- only: sqlite
CREATE TRIGGER presence_unlisted AFTER DELETE ON presence
BEGIN INSERT INTO list_changes (list, level, exp, word, step) VALUES ('online', 0, 0, OLD.fold, -1); END;
-- only: sqlite
CREATE TRIGGER presence_renamed AFTER UPDATE OF fold ON presence WHEN OLD.fold <> NEW.fold
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('online', 0, 0, OLD.fold, -1), ('online', 0, 0, NEW.fold, 1); END;

-- only: postgres
CREATE FUNCTION list_by_rank() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      SELECT 'rank', level, exp, word, step
      FROM (VALUES (OLD.level, OLD.exp, OLD.id::text, -1), (NEW.level, NEW.exp, NEW.id::text, 1))
           AS sides (level, exp, word, step)
      WHERE word IS NOT NULL AND (SELECT NOT loading FROM lists); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION list_by_fold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      SELECT TG_ARGV[0], 0, 0, word, step FROM (VALUES (OLD.fold, -1), (NEW.fold, 1)) AS sides (word, step)
      WHERE word IS NOT NULL AND (SELECT NOT loading FROM lists); RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER players_listed_by_rank AFTER INSERT OR DELETE ON players FOR EACH ROW EXECUTE FUNCTION list_by_rank();
-- only: postgres
CREATE TRIGGER players_ranked AFTER UPDATE OF level, exp ON players
FOR EACH ROW WHEN ((OLD.level, OLD.exp) <> (NEW.level, NEW.exp)) EXECUTE FUNCTION list_by_rank();
-- only: postgres
CREATE TRIGGER players_listed_by_name AFTER INSERT OR DELETE ON players FOR EACH ROW EXECUTE FUNCTION list_by_fold('names');
-- only: postgres
CREATE TRIGGER players_renamed AFTER UPDATE OF fold ON players
FOR EACH ROW WHEN (OLD.fold <> NEW.fold) EXECUTE FUNCTION list_by_fold('names');
-- only: postgres
CREATE TRIGGER users_listed AFTER INSERT OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION list_by_fold('users');
-- only: postgres
CREATE TRIGGER users_renamed AFTER UPDATE OF fold ON users
FOR EACH ROW WHEN (OLD.fold <> NEW.fold) EXECUTE FUNCTION list_by_fold('users');
-- only: postgres
CREATE TRIGGER presence_listed AFTER INSERT OR DELETE ON presence
FOR EACH ROW EXECUTE FUNCTION list_by_fold('online');
-- only: postgres
CREATE TRIGGER presence_renamed AFTER UPDATE OF fold ON presence
FOR EACH ROW WHEN (OLD.fold <> NEW.fold) EXECUTE FUNCTION list_by_fold('online');
