-- Pictures of items that the game published, written anew as PNG. `hash` is that of the pixels, and the picture's address.
CREATE TABLE item_pictures (
    item_id  {guid} PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    hash     TEXT NOT NULL,
    content  TEXT NOT NULL                     -- the PNG file, as base64
) {strict};
CREATE INDEX item_pictures_by_hash ON item_pictures (hash);
