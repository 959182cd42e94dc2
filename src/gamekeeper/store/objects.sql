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
