-- A page of those on one game server, by name, is read, not sorted.
DROP INDEX presence_by_server;
CREATE INDEX presence_by_server ON presence (server, fold, player_id);
