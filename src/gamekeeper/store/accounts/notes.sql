-- name: insert
INSERT INTO notes (id, user_id, player_id, author_id, at, warning, text) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: delete
DELETE FROM notes WHERE id = $1;

-- part: note
n.id, n.user_id, n.player_id, n.author_id, n.at, n.warning, n.text,
(SELECT a.name FROM users a WHERE a.id = n.author_id), (SELECT u.name FROM users u WHERE u.id = n.user_id),
(SELECT p.name FROM players p WHERE p.id = n.player_id);

-- name: find
SELECT {note} FROM notes n WHERE n.id = $1;

-- name: lock
SELECT id FROM notes WHERE id = $1 {for_update};

-- name: newest
SELECT {note} FROM (SELECT * FROM notes WHERE (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3) n
ORDER BY n.at DESC, n.id DESC;

-- name: of_user, of_player {column: user_id|player_id}
SELECT {note}
FROM (SELECT * FROM notes WHERE {column} = $4 AND (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3) n
ORDER BY n.at DESC, n.id DESC;

-- name: tags
SELECT tag FROM tags WHERE user_id = $1 AND player_id = $2 ORDER BY tag;

-- name: clear_tags
DELETE FROM tags WHERE user_id = $1 AND player_id = $2;

-- name: insert_tags
INSERT INTO tags (user_id, player_id, tag)
SELECT CAST($1 AS {guid}), CAST($2 AS {guid}), value->>'tag' FROM json_each($3);

-- For the doctor: reads all tags, and all changes.
-- name: all_tags_after
SELECT user_id, player_id, tag FROM tags WHERE (user_id, player_id, tag) > ($1, $2, $3)
ORDER BY user_id, player_id, tag LIMIT $4;

-- name: tag_changes_after
SELECT l.seq, l.user_id, l.after FROM masked_ledger l
WHERE l.seq > $1 AND l.kind = 'tags_set' AND EXISTS (SELECT 1 FROM users u WHERE u.id = l.user_id) ORDER BY l.seq LIMIT $2;

-- name: tagged
SELECT t.user_id, (SELECT u.name FROM users u WHERE u.id = t.user_id),
       NULLIF(t.player_id, CAST('00000000-0000-0000-0000-000000000000' AS {guid})),
       (SELECT p.name FROM players p WHERE p.id = t.player_id)
FROM (SELECT * FROM tags WHERE tag = $1 AND (user_id, player_id) > ($2, $3) ORDER BY user_id, player_id LIMIT $4) t
ORDER BY t.user_id, t.player_id;

-- Of players that came from another account: the notes and tags of an account go with it.
-- name: erase_notes, erase_tags {table: notes|tags}
DELETE FROM {table} WHERE player_id {any} SELECT CAST(value->>'id' AS {guid}) FROM json_each($1) {end_any};

-- name: of_person
SELECT n.at, p.name AS player, n.warning, n.text FROM notes n LEFT JOIN players p ON p.id = n.player_id
WHERE n.user_id = $1 ORDER BY n.at, n.id;

-- name: tags_of_person
SELECT p.name AS player, t.tag FROM tags t LEFT JOIN players p ON p.id = t.player_id WHERE t.user_id = $1 ORDER BY 1, 2;
