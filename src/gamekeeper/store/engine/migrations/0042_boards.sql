-- Boards: rankings of players that operators define. A deleted board stays until a background job has deleted its rows.
CREATE TABLE boards (
    id          {guid} PRIMARY KEY,
    name        TEXT NOT NULL,                 -- in addresses; lower case
    title       TEXT NOT NULL,
    ranks       TEXT NOT NULL CHECK (ranks IN ('level', 'item', 'variable', 'play_time')),
    thing_id    {guid},                        -- the item or variable
    gain        {boolean} NOT NULL,            -- counts what players gain in a season, not what they have
    hide_staff  {boolean} NOT NULL,
    public      {boolean} NOT NULL,
    created_at  {long} NOT NULL,
    deleted     {boolean} NOT NULL
) {strict};
CREATE UNIQUE INDEX boards_by_name ON boards (name) WHERE NOT deleted;

-- Seasons of boards. `game/board_follower.py` counts them in the order of the audit log.
CREATE TABLE seasons (
    id         {guid} PRIMARY KEY,
    board_id   {guid} NOT NULL REFERENCES boards (id),
    number     {long} NOT NULL,                -- 1, 2 and so on within its board
    title      TEXT NOT NULL,
    starts_at  {long} NOT NULL,
    ends_at    {long},                         -- null: open
    seq        {long} NOT NULL,                -- changes up to this number are counted; -1: not started
    swept      {guid},                         -- players up to this id are counted; null: all
    final      {boolean} NOT NULL              -- it has ended, and all of it is counted
) {strict};
CREATE UNIQUE INDEX seasons_by_board ON seasons (board_id, number);
CREATE INDEX seasons_open ON seasons (seq) WHERE NOT final;

-- What each player has in a season. Without references: a deleted player keeps its place in final standings.
CREATE TABLE standings (
    player_id  {guid} NOT NULL,                -- of an erased person: a random id
    season_id  {guid} NOT NULL,
    value      {long} NOT NULL,
    listed     {boolean} NOT NULL,             -- false: hidden, banned, deleted, or gained nothing
    PRIMARY KEY (player_id, season_id)
) {clustered};
CREATE INDEX standings_by_value ON standings (season_id, listed, value, player_id);
CREATE INDEX standings_by_season ON standings (season_id, player_id);
-- Planner statistics: nearly all players may be in one season.
-- only: postgres
ALTER TABLE standings ALTER COLUMN season_id SET (n_distinct = -0.01), ALTER COLUMN player_id SET (n_distinct = -0.1);
-- Numbers of listed neighbours in standings_by_value, from a first key to the next bucket.
CREATE TABLE standing_buckets (
    season_id  {guid} NOT NULL,
    quantity   {long} NOT NULL,                -- first key: value and player
    player_id  {guid} NOT NULL,
    entries    {long} NOT NULL,
    PRIMARY KEY (season_id, quantity, player_id)
) {clustered};

-- Accounts whose players are on no board.
CREATE TABLE hidden_accounts (
    user_id  {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hidden   {boolean} NOT NULL,               -- false: to be shown again, and then deleted
    applied  {boolean} NOT NULL                -- the standings have it
) {strict};
CREATE INDEX hidden_accounts_waiting ON hidden_accounts (user_id) WHERE NOT applied;

-- Game masters get the permission, unless an operator narrowed the role.
INSERT INTO role_permissions (role, permission)
SELECT 'game master', 'boards.write' FROM roles WHERE name = 'game master'
AND (SELECT COUNT(*) FROM role_permissions p WHERE p.role = 'game master'
     AND p.permission IN ('players.read', 'users.query', 'moderation.ban', 'moderation.kick', 'moderation.mute',
                          'players.progress', 'players.rename', 'items.give', 'items.take', 'spells.write',
                          'variables.write', 'audit.read', 'audit.undo')) = 13;
