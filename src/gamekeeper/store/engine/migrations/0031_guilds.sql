-- Variables of the server and of guilds, guilds with their members, and variables of players with text or decimals.
-- The types of declared variables: text and decimals are new. The table is small, so SQLite makes it anew.
-- only: sqlite
CREATE TABLE variables_kept AS SELECT id, name, type FROM variables;
-- only: sqlite
DROP TABLE variables;
-- only: sqlite
CREATE TABLE variables (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL,
    type  TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean', 'String', 'Number'))
) {strict};
-- only: sqlite
INSERT INTO variables (id, name, type) SELECT id, name, type FROM variables_kept;
-- only: sqlite
DROP TABLE variables_kept;
-- only: sqlite
CREATE INDEX variables_by_name ON variables (name, id);
-- only: postgres
ALTER TABLE variables DROP CONSTRAINT variables_type_check;
-- only: postgres
ALTER TABLE variables ADD CONSTRAINT variables_type_check CHECK (type IN ('Integer', 'Boolean', 'String', 'Number'));

-- Variables of the server: declared by the game, with their value.
CREATE TABLE server_variables (
    id          {guid} PRIMARY KEY,
    name        {ordered} NOT NULL,
    type        TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean', 'String', 'Number')),
    text_id     TEXT NOT NULL DEFAULT '',      -- the name of the variable in texts of the game
    folder      TEXT NOT NULL DEFAULT '',      -- where the game's editor lists it
    value       TEXT,                          -- JSON; null: never set
    created_at  {long} NOT NULL DEFAULT 0
) {strict};
CREATE INDEX server_variables_by_name ON server_variables (name, id);

-- Variables that guilds can have, as the game declares them.
CREATE TABLE guild_variables (
    id          {guid} PRIMARY KEY,
    name        {ordered} NOT NULL,
    type        TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean', 'String', 'Number')),
    text_id     TEXT NOT NULL DEFAULT '',
    folder      TEXT NOT NULL DEFAULT '',
    created_at  {long} NOT NULL DEFAULT 0
) {strict};
CREATE INDEX guild_variables_by_name ON guild_variables (name, id);

-- Guilds, as the game reports them. Two names may differ in case alone, so `fold` is not unique.
CREATE TABLE guilds (
    id           {guid} PRIMARY KEY,
    name         TEXT NOT NULL,
    fold         {ordered} NOT NULL,
    founded_at   {long} NOT NULL,
    bank_slots   INTEGER NOT NULL DEFAULT 0 CHECK (bank_slots >= 0),
    instance_id  {guid},                       -- the guild's own map instance; null: the game told none
    members      INTEGER NOT NULL DEFAULT 0    -- number of its rows in guild_members, kept by triggers
) {strict};
CREATE INDEX guilds_by_name ON guilds (fold, id);
CREATE INDEX guilds_by_members ON guilds (members, fold, id);
CREATE INDEX guilds_by_founding ON guilds (founded_at, fold, id);

-- Members of guilds: a player is in at most one.
CREATE TABLE guild_members (
    player_id  {guid} PRIMARY KEY REFERENCES players (id) ON DELETE CASCADE,
    guild_id   {guid} NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    rank       INTEGER NOT NULL CHECK (rank >= 0), -- 0: the owner
    joined_at  {long}                          -- null: the game told none
) {strict};
CREATE INDEX guild_members_by_guild ON guild_members (guild_id, rank, player_id);

-- Variables of guilds that were ever set. The type is that of the value, JSON.
CREATE TABLE guild_values (
    guild_id     {guid} NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    variable_id  {guid} NOT NULL,
    type         TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean', 'String', 'Number')),
    value        TEXT NOT NULL,
    PRIMARY KEY (guild_id, variable_id)
) {clustered};

-- Variables of players with text and decimals, as JSON. Integers and booleans are in player_variables.
CREATE TABLE player_texts (
    player_id    {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    variable_id  {guid} NOT NULL,
    type         TEXT NOT NULL CHECK (type IN ('String', 'Number')),
    value        TEXT NOT NULL,
    PRIMARY KEY (player_id, variable_id)
) {clustered};

-- Count the members of a guild. A bulk load writes the counts itself.
-- only: sqlite
CREATE TRIGGER guild_members_added AFTER INSERT ON guild_members WHEN (SELECT NOT loading FROM lists)
BEGIN UPDATE guilds SET members = members + 1 WHERE id = NEW.guild_id; END;
-- only: sqlite
CREATE TRIGGER guild_members_removed AFTER DELETE ON guild_members
BEGIN UPDATE guilds SET members = members - 1 WHERE id = OLD.guild_id; END;
-- only: sqlite
CREATE TRIGGER guild_members_moved AFTER UPDATE OF guild_id ON guild_members WHEN OLD.guild_id <> NEW.guild_id
BEGIN UPDATE guilds SET members = members + CASE WHEN id = NEW.guild_id THEN 1 ELSE -1 END
      WHERE id IN (OLD.guild_id, NEW.guild_id); END;
-- only: postgres
CREATE FUNCTION count_guild_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN IF TG_OP <> 'INSERT' OR (SELECT NOT loading FROM lists) THEN
          UPDATE guilds SET members = members + CASE WHEN id IS NOT DISTINCT FROM NEW.guild_id THEN 1 ELSE -1 END
          WHERE id IN (OLD.guild_id, NEW.guild_id)
; END IF
; RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER guild_members_counted AFTER INSERT OR DELETE ON guild_members
FOR EACH ROW EXECUTE FUNCTION count_guild_members();
-- only: postgres
CREATE TRIGGER guild_members_moved AFTER UPDATE OF guild_id ON guild_members
FOR EACH ROW WHEN (OLD.guild_id <> NEW.guild_id) EXECUTE FUNCTION count_guild_members();
