-- Further fields of catalogue entries, and further types of the game's objects, as a game server publishes them.
ALTER TABLE items ADD COLUMN details {json};
ALTER TABLE spells ADD COLUMN details {json};
ALTER TABLE variables ADD COLUMN details {json};
ALTER TABLE classes ADD COLUMN details {json};
ALTER TABLE maps ADD COLUMN details {json};

--: The game's objects of other types, such as npc and quest. No rule depends on them.
CREATE TABLE game_objects (
    type     TEXT NOT NULL,                    -- object type of the Intersect engine, such as npc
    id       {guid} NOT NULL,
    name     {ordered} NOT NULL,
    details  {json},                           -- JSON object with the entry's further fields
    PRIMARY KEY (type, id)
) {strict};
CREATE INDEX game_objects_by_name ON game_objects (type, name, id);
