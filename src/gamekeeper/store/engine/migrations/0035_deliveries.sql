-- Deliveries of commands to game servers, and how far each game server has read and applied changes.
--: Only commands have rows.
CREATE TABLE deliveries (
    seq         {long} NOT NULL,                  -- number of the command in the ledger
    server      TEXT NOT NULL,                    -- game server that must carry it out
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'applied', 'failed', 'unknown')),
    reason      TEXT,                             -- what the game says about it
    queued_at   {long} NOT NULL,
    expires_at  {long},                           -- null: never
    acked_at    {long},
    PRIMARY KEY (seq, server)
) {clustered};
CREATE INDEX deliveries_by_server ON deliveries (server, seq);
CREATE INDEX deliveries_by_age ON deliveries (queued_at);
CREATE INDEX deliveries_waiting ON deliveries (queued_at, seq, server) WHERE state = 'waiting' AND expires_at IS NULL;
CREATE INDEX deliveries_expiring ON deliveries (expires_at) WHERE state = 'waiting' AND expires_at IS NOT NULL;
-- Deliveries as all readers see them: the game's reason of an erased person's command appears blanked at once.
CREATE VIEW masked_deliveries AS
SELECT d.seq, d.server, d.state,
       CASE WHEN d.reason IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM ledger l JOIN erasures e ON e.id = COALESCE(l.player_id, l.user_id) AND l.seq <= e.upto
           WHERE l.seq = d.seq) THEN d.reason END AS reason,
       d.queued_at, d.expires_at, d.acked_at
FROM deliveries d;
--: Changes up to this number were sent to it over the feed.
ALTER TABLE servers ADD COLUMN sent_seq {long};
--: It has applied all changes up to this number.
ALTER TABLE servers ADD COLUMN applied_seq {long};
--: The game server has applied the player's changes up to this number.
ALTER TABLE presence ADD COLUMN applied_seq {long};
