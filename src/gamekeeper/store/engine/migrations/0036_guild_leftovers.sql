-- Rows of an imported game about guilds that Gamekeeper does not use: their banks, as in player_leftovers.
CREATE TABLE guild_leftovers (
    guild_id  {guid} NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    kind      TEXT NOT NULL,
    data      {json} NOT NULL,
    PRIMARY KEY (guild_id, kind)
) {clustered};
