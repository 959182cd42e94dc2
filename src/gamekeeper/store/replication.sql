-- name: synchronous_standbys (sqlite)
SELECT '', 0;

-- synchronous_standby_names, and the number of connected synchronous standbys (null if the role may not see it).
-- name: synchronous_standbys (postgres)
SELECT current_setting('synchronous_standby_names'),
       CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE')
            THEN (SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) END;
