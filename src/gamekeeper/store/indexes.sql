-- name: names (sqlite)
SELECT name FROM sqlite_master WHERE type = 'index';

-- name: names (postgres)
SELECT indexname FROM pg_indexes WHERE schemaname = current_schema();
