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
