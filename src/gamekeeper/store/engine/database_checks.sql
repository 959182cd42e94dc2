-- name: names (sqlite)
SELECT type, name FROM sqlite_master;

-- name: names (postgres)
SELECT CASE relkind WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' ELSE 'table' END, CAST(relname AS text) FROM pg_class
WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'v', 'S')
UNION ALL
SELECT 'trigger', CAST(t.tgname AS text) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND NOT t.tgisinternal AND t.tgenabled <> 'D'
UNION ALL
SELECT 'function', CAST(proname AS text) FROM pg_proc WHERE pronamespace = CAST(current_schema() AS regnamespace);

-- Tables, sequences and functions on which this user lacks a privilege. SQLite has no users.
-- name: lacking (sqlite)
SELECT '' WHERE {false};

-- name: lacking (postgres)
SELECT CAST(relname AS text) FROM pg_class
WHERE relnamespace = CAST(current_schema() AS regnamespace)
  AND CASE relkind
      WHEN 'r' THEN NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
                         AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
      WHEN 'S' THEN NOT has_sequence_privilege(oid, 'USAGE, UPDATE') END
UNION ALL
SELECT CAST(proname AS text) FROM pg_proc
WHERE pronamespace = CAST(current_schema() AS regnamespace)
  AND prorettype <> CAST('trigger' AS regtype) -- PostgreSQL checks no privilege on trigger functions
  AND NOT has_function_privilege(oid, 'EXECUTE');

-- name: schema (sqlite)
SELECT 'main', {false};

-- name: schema (postgres)
SELECT current_schema(), current_setting('default_transaction_read_only') = 'on';

-- name: synchronous_standbys (sqlite)
SELECT '', 0;

-- synchronous_standby_names, and the number of connected synchronous standbys (null if the role may not see it).
-- name: synchronous_standbys (postgres)
SELECT current_setting('synchronous_standby_names'),
       CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE')
            THEN (SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) END;
