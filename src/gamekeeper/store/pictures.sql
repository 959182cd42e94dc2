-- name: hash
SELECT hash FROM item_pictures WHERE item_id = $1;

-- name: hashes
SELECT r.item_id, r.hash
FROM json_each($1) AS given, {each} item_pictures r WHERE r.item_id = CAST(given.value->>'id' AS {guid}) {end_each};

-- Several items may have the same picture.
-- name: content
SELECT content FROM item_pictures WHERE hash = $1 LIMIT 1;

-- name: save
INSERT INTO item_pictures (item_id, hash, content) VALUES ($1, $2, $3)
ON CONFLICT (item_id) DO UPDATE SET hash = excluded.hash, content = excluded.content;

-- name: delete
DELETE FROM item_pictures WHERE item_id = $1;
