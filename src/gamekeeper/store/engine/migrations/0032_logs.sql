-- The game's own logs of activity and trades, as game servers report them. They are not part of the audit log. Without
-- references: an entry of a deleted player stays, until it is old or its account is erased.
CREATE TABLE activity_log (
    id         {guid} PRIMARY KEY,                -- made by the game, so that a repeated report adds nothing
    at         {long} NOT NULL,
    user_id    {guid} NOT NULL,                   -- all zeros: no account, such as a log-in with an unknown name
    player_id  {guid},
    named_id   {guid},                            -- without an account: the account whose name or email `meta` has
    action     TEXT NOT NULL,                     -- the actions are in game/logs.py
    peer       TEXT NOT NULL,
    address    TEXT,
    meta       TEXT
) {strict};
CREATE INDEX activity_by_time ON activity_log (at, id);
CREATE INDEX activity_by_user ON activity_log (user_id, at, id);
CREATE INDEX activity_by_player ON activity_log (player_id, at, id) WHERE player_id IS NOT NULL;
CREATE INDEX activity_by_name ON activity_log (named_id, id) WHERE named_id IS NOT NULL;

-- One entry per party of a trade. `items` is what the party gave, `target_items` what it got.
CREATE TABLE trade_log (
    id            {guid} PRIMARY KEY,
    trade_id      {guid} NOT NULL,
    at            {long} NOT NULL,
    user_id       {guid} NOT NULL,
    player_id     {guid} NOT NULL,
    target_id     {guid} NOT NULL,                -- the other player
    address       TEXT,
    items         {json} NOT NULL,
    target_items  {json} NOT NULL
) {strict};
CREATE INDEX trades_by_time ON trade_log (at, id);
CREATE INDEX trades_by_user ON trade_log (user_id, at, id);
CREATE INDEX trades_by_player ON trade_log (player_id, at, id);
-- Each trade once: the entry of the party with the lower id.
CREATE INDEX trades_once ON trade_log (at, id) WHERE player_id < target_id;
-- Planner statistics: as for the ledger, nearly all entries may be of one account.
-- only: postgres
ALTER TABLE activity_log ALTER COLUMN user_id SET (n_distinct = -0.01), ALTER COLUMN player_id SET (n_distinct = -0.01);
-- only: postgres
ALTER TABLE trade_log ALTER COLUMN user_id SET (n_distinct = -0.01), ALTER COLUMN player_id SET (n_distinct = -0.01);

-- Addresses in the activity log by account, so that a list of them does not read the log.
CREATE TABLE log_addresses (
    user_id    {guid} NOT NULL,
    address    TEXT NOT NULL,
    last_used  {long} NOT NULL,
    PRIMARY KEY (user_id, address)
) {clustered};
CREATE INDEX log_addresses_by_user ON log_addresses (user_id, last_used, address);
CREATE INDEX log_addresses_by_address ON log_addresses (address, last_used, user_id);
CREATE INDEX log_addresses_by_age ON log_addresses (last_used);

-- Number of entries by list, account, player and period, so that totals and any page are found without counting entries.
CREATE TABLE log_counts (
    list       TEXT NOT NULL,                     -- activity, activity_by_minute, trades, trades_once or trades_by_minute
    user_id    {guid} NOT NULL,                   -- all zeros: no account, or all accounts
    player_id  {guid} NOT NULL,                   -- all zeros: no player, or all players
    start      {long} NOT NULL,                   -- start of the period: a UTC day, or a minute
    entries    {long} NOT NULL,
    PRIMARY KEY (list, user_id, player_id, start)
) {clustered};
CREATE INDEX log_counts_by_player ON log_counts (list, player_id, start);
-- only: postgres
ALTER TABLE log_counts ALTER COLUMN user_id SET (n_distinct = -0.01), ALTER COLUMN player_id SET (n_distinct = -0.01);

-- The logs as all readers see them: without entries of erased accounts that are not deleted yet.
CREATE VIEW masked_activity AS
SELECT a.id, a.at, a.user_id, a.player_id, a.named_id, a.action, a.peer, a.address, a.meta
FROM activity_log a
WHERE NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = a.user_id)
  AND NOT EXISTS (SELECT 1 FROM erasures n WHERE n.id = a.named_id);
CREATE VIEW masked_trades AS
SELECT t.id, t.trade_id, t.at, t.user_id, t.player_id, t.target_id, t.address, t.items, t.target_items
FROM trade_log t WHERE NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = t.user_id);
CREATE VIEW masked_log_addresses AS
SELECT a.user_id, a.address, a.last_used
FROM log_addresses a WHERE NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = a.user_id);
