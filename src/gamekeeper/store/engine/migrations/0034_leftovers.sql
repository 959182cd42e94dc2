-- Rows of an imported game that Gamekeeper does not use, such as friends and quests: as they were, one JSON list for
-- each owner and kind.
CREATE TABLE player_leftovers (
    player_id  {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    data       {json} NOT NULL,
    PRIMARY KEY (player_id, kind)
) {clustered};

CREATE TABLE user_leftovers (
    user_id  {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL,
    data     {json} NOT NULL,
    PRIMARY KEY (user_id, kind)
) {clustered};
