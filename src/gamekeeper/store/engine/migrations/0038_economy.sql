-- The economy: sums over the audit log, counted by game/economy.py in the order of its numbers. One row.
CREATE TABLE economy (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    seq        {long} NOT NULL,                -- changes up to this number are counted
    at         {long} NOT NULL,                -- time of the newest counted change; 0: none
    since      {long} NOT NULL,                -- all changes from this time on are counted
    swept      {guid},                         -- holdings are counted for players up to this id; null: for all
    variables  TEXT NOT NULL,                  -- JSON list of the variables whose values are in holdings
    recount    {boolean} NOT NULL              -- a recount is under way: totals have only the players up to `swept`
) {strict};

-- Quantity of each item in all slots, and number of players who have it.
CREATE TABLE item_totals (
    item_id   {guid} PRIMARY KEY,
    quantity  {long} NOT NULL,
    holders   {long} NOT NULL
) {strict};
-- The same at the end of each UTC day on which the item changed hands.
CREATE TABLE item_days (
    item_id   {guid} NOT NULL,
    day       {long} NOT NULL,                 -- days since 1970
    quantity  {long} NOT NULL,
    holders   {long} NOT NULL,
    PRIMARY KEY (item_id, day)
) {clustered};
-- Quantities of each item that came into being and ended, per UTC day and source.
CREATE TABLE item_flows (
    item_id    {guid} NOT NULL,
    day        {long} NOT NULL,
    source     TEXT NOT NULL CHECK (source IN ('game', 'key', 'staff', 'undo', 'import')),
    created    {long} NOT NULL,
    destroyed  {long} NOT NULL,
    PRIMARY KEY (item_id, day, source)
) {clustered};
-- Quantities that accounts and API keys gave and took, per UTC day. Without references: a deleted account stays as an id.
CREATE TABLE item_gifts (
    day       {long} NOT NULL,
    giver_id  {guid} NOT NULL,                 -- an account or an API key; all zeros: the command line
    item_id   {guid} NOT NULL,
    source    TEXT NOT NULL CHECK (source IN ('key', 'staff')),
    given     {long} NOT NULL,
    taken     {long} NOT NULL,
    PRIMARY KEY (day, giver_id, item_id)
) {clustered};
CREATE INDEX item_gifts_by_item ON item_gifts (item_id, day, giver_id);

-- Quantity of each item that each player has in all slots, and the values of ranked variables. Without references: the
-- deletion of a player is counted like every other change.
CREATE TABLE holdings (
    player_id  {guid} NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('item', 'variable')),
    thing_id   {guid} NOT NULL,                -- id of the item or variable
    quantity   {long} NOT NULL,
    PRIMARY KEY (player_id, kind, thing_id)
) {clustered};
CREATE INDEX holdings_by_quantity ON holdings (kind, thing_id, quantity, player_id);
-- Planner statistics: nearly all players may have one item.
-- only: postgres
ALTER TABLE holdings ALTER COLUMN thing_id SET (n_distinct = -0.01), ALTER COLUMN kind SET (n_distinct = -0.01);

-- Items and variables whose holders are counted in buckets, so that any page is found. A list that is still being
-- counted has buckets for the keys before its cursor.
CREATE TABLE ranked_lists (
    kind       TEXT NOT NULL CHECK (kind IN ('item', 'variable')),
    thing_id   {guid} NOT NULL,
    quantity   {long} NOT NULL,                -- cursor: quantity and player
    player_id  {guid} NOT NULL,
    built      {boolean} NOT NULL,
    wanted_at  {long} NOT NULL,                -- when a serving process last had it in its setting, ms since 1970
    PRIMARY KEY (kind, thing_id)
) {clustered};
-- Numbers of neighbours in holdings_by_quantity, from a first key to the next bucket.
CREATE TABLE ranked_buckets (
    kind       TEXT NOT NULL CHECK (kind IN ('item', 'variable')),
    thing_id   {guid} NOT NULL,
    quantity   {long} NOT NULL,                -- first key: quantity and player
    player_id  {guid} NOT NULL,
    entries    {long} NOT NULL,
    PRIMARY KEY (kind, thing_id, quantity, player_id)
) {clustered};
