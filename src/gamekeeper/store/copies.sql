-- In the order in which they were made: a table comes after those that it refers to.
-- name: tables (sqlite)
SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY rowid;

-- name: tables (postgres)
SELECT CAST(relname AS text) FROM pg_class
WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace) ORDER BY oid;

-- name: columns (sqlite)
SELECT name, CASE type WHEN 'BLOB' THEN 'bytes' ELSE 'plain' END FROM pragma_table_info($1) ORDER BY cid;

-- name: columns (postgres)
SELECT CAST(attname AS text),
       CASE atttypid WHEN CAST('json' AS regtype) THEN 'bytes' WHEN CAST('boolean' AS regtype) THEN 'truth' ELSE 'plain' END
FROM pg_attribute
WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped ORDER BY attnum;

-- The migrations put a row there.
-- name: clear_epoch
DELETE FROM epoch;

-- name: renew_epoch
UPDATE epoch SET id = {new_guid};

-- name: revoke_tokens
UPDATE tokens SET revoked_at = {now} WHERE revoked_at IS NULL;

-- SQLite goes on from the highest number that it has seen.
-- name: continue_ledger (sqlite)
SELECT 0;

-- name: continue_ledger (postgres)
SELECT setval('ledger_seq', GREATEST(MAX(seq), 1), MAX(seq) IS NOT NULL) FROM ledger;
