-- Indexes for filters of the list of players.
--: By class and map in order of name, and by the time when a player last left the game.
CREATE INDEX players_by_class ON players (class_id, fold);
CREATE INDEX players_by_map ON players (map_id, fold);
CREATE INDEX players_by_seen ON players (last_online, id);
