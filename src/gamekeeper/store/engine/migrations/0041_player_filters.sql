-- Indexes for filters of the list of players.
CREATE INDEX players_by_class ON players (class_id, fold);
CREATE INDEX players_by_map ON players (map_id, fold);
CREATE INDEX players_by_seen ON players (last_online, id);
