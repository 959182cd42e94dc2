-- Indexes for the lists of the newest API keys, of all accounts and of one, and for the keys of a role.
CREATE INDEX api_keys_by_owner ON api_keys (user_id, created_at DESC, id);
DROP INDEX IF EXISTS api_keys_by_user;
CREATE INDEX api_keys_by_age ON api_keys (created_at DESC, id);
CREATE INDEX api_keys_by_role ON api_keys (role) WHERE role IS NOT NULL;
-- Planner statistics: one account may own nearly all keys.
-- only: postgres
ALTER TABLE api_keys ALTER COLUMN user_id SET (n_distinct = -0.01);
