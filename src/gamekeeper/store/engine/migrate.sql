-- name: create_migrations
CREATE TABLE IF NOT EXISTS migrations (
    number      INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    checksum    TEXT NOT NULL,
    applied_at  {long} NOT NULL
) {strict};

-- name: applied_migrations
SELECT number, name, checksum FROM migrations ORDER BY number;

-- name: record_migration
INSERT INTO migrations (number, name, checksum, applied_at) VALUES ($1, $2, $3, {now});

-- name: encoding (sqlite)
SELECT 'UTF8';

-- name: encoding (postgres)
SELECT current_setting('server_encoding');

-- Short lock timeout for this transaction: while it waits for a table lock, later sessions queue behind it.
-- name: limit_lock_wait (sqlite)
SELECT 0;

-- name: limit_lock_wait (postgres)
SELECT set_config('lock_timeout', '200ms', true);

-- `hold`, `guard` and `unguard` return statements to run, generated from the tables that the database has.

-- Not needed on SQLite: its writer already locks the whole file.
-- name: hold (sqlite)
SELECT 'SELECT 0';

-- Reads continue; writes wait and time out.
-- name: hold (postgres)
SELECT 'LOCK TABLE ' || string_agg(quote_ident(relname), ', ' ORDER BY oid) || ' IN SHARE ROW EXCLUSIVE MODE'
FROM pg_class WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace);

-- name: guard (sqlite)
SELECT 'CREATE TRIGGER closed_' || name || '_' || value || ' BEFORE ' || value || ' ON ' || name ||
       ' BEGIN SELECT RAISE(ABORT, ''this database is closed''); END'
FROM pragma_table_list, json_each('["insert", "update", "delete"]')
WHERE pragma_table_list.schema = 'main' AND pragma_table_list.type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~';

-- Raises the error of a read-only server, which connected Gamekeeper processes already handle.
-- name: guard (postgres)
SELECT text FROM (
    SELECT CAST(0 AS oid) AS place, 'CREATE FUNCTION closed() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN '
        'RAISE read_only_sql_transaction USING MESSAGE = ''this database is closed''; END $f$' AS text
    UNION ALL
    SELECT oid, format('CREATE TRIGGER closed BEFORE INSERT OR UPDATE OR DELETE ON %I '
        'FOR EACH STATEMENT EXECUTE FUNCTION closed()', relname)
    FROM pg_class WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace)
) AS guards ORDER BY place;

-- name: unguard (sqlite)
SELECT 'DROP TRIGGER ' || name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'closed~_%' ESCAPE '~';

-- name: unguard (postgres)
SELECT 'DROP FUNCTION IF EXISTS closed() CASCADE';

-- name: mark
INSERT INTO migrations (number, name, checksum, applied_at) VALUES ($1, $2, '', {now});

-- name: unmark
DELETE FROM migrations WHERE number = $1 RETURNING name;
