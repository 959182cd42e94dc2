-- name: find
SELECT position, value FROM rollups WHERE name = $1;

-- No row: another instance runs a step of this rollup.
-- name: lock (sqlite)
SELECT position, value FROM rollups WHERE name = $1;

-- name: lock (postgres)
SELECT position, value FROM rollups WHERE name = $1 FOR UPDATE SKIP LOCKED;

-- name: move
UPDATE rollups SET position = $2, value = $3 WHERE name = $1;

-- name: save
INSERT INTO rollups (name, position, value) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET position = excluded.position, value = excluded.value;

-- A copy has its own checkpoints.
-- name: clear
DELETE FROM rollups;

-- name: begin
INSERT INTO rollups (name, position, value) SELECT $1, {now}, 0 WHERE {true} ON CONFLICT (name) DO NOTHING;

-- name: wait (sqlite)
SELECT position, value FROM rollups WHERE name = $1;

-- name: wait (postgres)
SELECT position, value FROM rollups WHERE name = $1 FOR UPDATE;
