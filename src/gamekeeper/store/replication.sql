-- name: synchronous_standbys (sqlite)
SELECT '', 0;

-- What a COMMIT must wait for, and how many such standbys are connected: null for a role that may not see it.
-- name: synchronous_standbys (postgres)
SELECT current_setting('synchronous_standby_names'),
       CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE')
            THEN (SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) END;
