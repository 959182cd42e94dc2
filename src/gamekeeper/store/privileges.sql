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
