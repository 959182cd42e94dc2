-- name: names (sqlite)
SELECT name FROM sqlite_master WHERE type IN ('index', 'table');

-- name: names (postgres)
SELECT indexname FROM pg_indexes WHERE schemaname = current_schema();

-- name: drop_players_by_rank
DROP INDEX IF EXISTS players_by_rank;

-- name: drop_players_by_user
DROP INDEX IF EXISTS players_by_user;

-- name: drop_players_by_part (sqlite)
DROP TABLE IF EXISTS players_by_part;

-- name: drop_players_by_part (postgres)
DROP INDEX IF EXISTS players_by_part;

-- name: drop_users_by_part (sqlite)
DROP TABLE IF EXISTS users_by_part;

-- name: drop_users_by_part (postgres)
DROP INDEX IF EXISTS users_by_part;

-- What keeps SQLite's, which are tables; PostgreSQL keeps its own.
-- name: drop_players_by_part_added (sqlite)
DROP TRIGGER IF EXISTS players_by_part_added;

-- name: drop_players_by_part_added (postgres)
DROP TRIGGER IF EXISTS players_by_part_added ON players;

-- name: drop_players_by_part_removed (sqlite)
DROP TRIGGER IF EXISTS players_by_part_removed;

-- name: drop_players_by_part_removed (postgres)
DROP TRIGGER IF EXISTS players_by_part_removed ON players;

-- name: drop_players_by_part_renamed (sqlite)
DROP TRIGGER IF EXISTS players_by_part_renamed;

-- name: drop_players_by_part_renamed (postgres)
DROP TRIGGER IF EXISTS players_by_part_renamed ON players;

-- name: drop_users_by_part_added (sqlite)
DROP TRIGGER IF EXISTS users_by_part_added;

-- name: drop_users_by_part_added (postgres)
DROP TRIGGER IF EXISTS users_by_part_added ON users;

-- name: drop_users_by_part_removed (sqlite)
DROP TRIGGER IF EXISTS users_by_part_removed;

-- name: drop_users_by_part_removed (postgres)
DROP TRIGGER IF EXISTS users_by_part_removed ON users;

-- name: drop_users_by_part_renamed (sqlite)
DROP TRIGGER IF EXISTS users_by_part_renamed;

-- name: drop_users_by_part_renamed (postgres)
DROP TRIGGER IF EXISTS users_by_part_renamed ON users;
