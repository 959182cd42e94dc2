-- Tables in order of creation: each comes after those that it refers to. Virtual tables of search indexes, and their
-- shadow tables, are excluded.
-- name: tables (sqlite)
SELECT m.name FROM sqlite_master m JOIN pragma_table_list t ON t.name = m.name AND t.schema = 'main'
WHERE t.type = 'table' AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY m.rowid;

-- Tables that belong to a PostgreSQL extension are excluded.
-- name: tables (postgres)
SELECT CAST(relname AS text) FROM pg_class
WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace)
  AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = CAST('pg_class' AS regclass) AND objid = pg_class.oid AND deptype = 'e')
ORDER BY oid;

-- name: columns (sqlite)
SELECT name, CASE type WHEN 'BLOB' THEN 'bytes' ELSE 'plain' END, type = 'INTEGER' FROM pragma_table_info($1) ORDER BY cid;

-- name: columns (postgres)
SELECT CAST(attname AS text),
       CASE atttypid WHEN CAST('json' AS regtype) THEN 'bytes' WHEN CAST('boolean' AS regtype) THEN 'truth' ELSE 'plain' END,
       atttypid IN (CAST('smallint' AS regtype), CAST('integer' AS regtype), CAST('bigint' AS regtype), CAST('boolean' AS regtype))
FROM pg_attribute
WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum;

-- The migrations insert a row into `epoch`; a restore replaces it.
-- name: clear_epoch
DELETE FROM epoch;

-- name: clear_role_permissions
DELETE FROM role_permissions;

-- name: clear_roles
DELETE FROM roles;

-- Jobs and approvals that an older version began beside a newer one have no epoch.
-- name: complete_jobs, complete_approvals {table: bulk_jobs|approvals} {state: running|waiting}
UPDATE {table} SET epoch = (SELECT e.id FROM epoch e WHERE e.one = 1) WHERE state = '{state}' AND epoch IS NULL;

-- name: renew_epoch
UPDATE epoch SET id = {new_guid};

-- name: revoke_tokens
UPDATE tokens SET revoked_at = {now} WHERE revoked_at IS NULL;

-- name: suspend_api_keys
UPDATE api_keys SET suspended_at = {now} WHERE revoked_at IS NULL AND suspended_at IS NULL;

-- SQLite continues after the highest number automatically (AUTOINCREMENT).
-- name: continue_ledger (sqlite)
SELECT 0;

-- name: continue_ledger (postgres)
SELECT setval('ledger_seq', GREATEST(MAX(seq), 1), MAX(seq) IS NOT NULL) FROM ledger;

-- Next rows in key order, of a table that is long or that owns rows of other tables.
-- name: users, players
SELECT * FROM {name} WHERE id > $1 ORDER BY id LIMIT $2;

-- name: ledger
SELECT * FROM masked_ledger WHERE seq > $1 ORDER BY seq LIMIT $2;

-- Rows that belong to the accounts or players between two ids.
-- name: mutes, bans
SELECT * FROM {name} WHERE user_id BETWEEN $1 AND $2;

-- name: user_roles, identities, second_factors, recovery_codes, user_permissions
--   {order: user_id, role|user_id, added_at, id|user_id, added_at, id|user_id, code_hash|user_id, permission}
SELECT * FROM {name} WHERE user_id BETWEEN $1 AND $2 ORDER BY {order};

-- name: bags, slots, known_spells, player_variables, player_texts, guild_members
--   {order: player_id, id|player_id, place, slot|player_id, slot|player_id, variable_id|player_id, variable_id|player_id}
SELECT * FROM {name} WHERE player_id BETWEEN $1 AND $2 ORDER BY {order};
