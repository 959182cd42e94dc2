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

-- name: names_index (sqlite)
SELECT name FROM sqlite_master WHERE type IN ('index', 'table');

-- Without invalid indexes, which a concurrent build leaves while it runs or after it fails.
-- name: names_index (postgres)
SELECT CAST(c.relname AS text) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND i.indisvalid;

-- name: is_building (sqlite)
SELECT 1 WHERE {false} AND $1 = '';

-- name: is_building (postgres)
SELECT 1 FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid
WHERE p.datname = current_database() AND c.relname = $1;

-- Returns the command that drops an invalid index, if there is one. Excludes an index that another process is building:
-- the drop would wait for the end of that build and then delete the finished index.
-- name: drop_invalid (sqlite)
SELECT '' WHERE {false} AND $1 = '';

-- name: drop_invalid (postgres)
SELECT format('DROP INDEX CONCURRENTLY IF EXISTS %I', c.relname)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relname = $1 AND NOT i.indisvalid
  AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid);

-- name: drop_players_by_rank, drop_players_by_user, drop_players_by_class, drop_players_by_map, drop_players_by_seen
--   {index: players_by_rank|players_by_user|players_by_class|players_by_map|players_by_seen}
DROP INDEX IF EXISTS {index};

-- name: drop_players_by_part, drop_users_by_part (sqlite) {index: players_by_part|users_by_part}
DROP TABLE IF EXISTS {index};

-- name: drop_players_by_part, drop_users_by_part (postgres) {index: players_by_part|users_by_part}
DROP INDEX IF EXISTS {index};

-- Triggers that update SQLite's search indexes. PostgreSQL has none, so there the statements do nothing.
-- name: drop_players_by_part_added, drop_players_by_part_removed, drop_players_by_part_renamed,
--   drop_users_by_part_added, drop_users_by_part_removed, drop_users_by_part_renamed (sqlite)
--   {table: players|players|players|users|users|users} {act: added|removed|renamed|added|removed|renamed}
DROP TRIGGER IF EXISTS {table}_by_part_{act};

-- name: drop_players_by_part_added, drop_players_by_part_removed, drop_players_by_part_renamed,
--   drop_users_by_part_added, drop_users_by_part_removed, drop_users_by_part_renamed (postgres)
--   {table: players|players|players|users|users|users} {act: added|removed|renamed|added|removed|renamed}
DROP TRIGGER IF EXISTS {table}_by_part_{act} ON {table};
