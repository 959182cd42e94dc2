-- Signals: what the rules over changes, requests and game servers have found. `subject` is what a rule found it about,
-- such as an item: one open signal for each rule and subject. `evidence` is JSON, with numbers of changes and no names.
CREATE TABLE signals (
    id               {guid} PRIMARY KEY,
    rule             TEXT NOT NULL,
    subject          TEXT NOT NULL,
    item_id          {guid},
    player_id        {guid},
    giver_id         {guid},                      -- account or API key of gifts
    first_at         {long} NOT NULL,
    last_at          {long} NOT NULL,
    times            {long} NOT NULL,             -- how often the rule found it
    evidence         TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('open', 'acknowledged')),
    acknowledged_at  {long},
    acknowledged_by  {guid},
    note             TEXT
) {strict};
CREATE UNIQUE INDEX signals_open ON signals (rule, subject) WHERE state = 'open';
CREATE INDEX signals_by_subject ON signals (rule, subject, last_at);
CREATE INDEX signals_by_time ON signals (first_at, id);
CREATE INDEX signals_by_rule ON signals (rule, first_at, id);
CREATE INDEX signals_by_state ON signals (state, first_at, id);
CREATE INDEX signals_by_rule_and_state ON signals (rule, state, first_at, id);
CREATE INDEX signals_by_player ON signals (player_id) WHERE player_id IS NOT NULL;
CREATE INDEX signals_by_giver ON signals (giver_id) WHERE giver_id IS NOT NULL;

-- Number of signals of each rule: ever raised, and open.
--: A row is locked before a signal of its rule is raised, so that instances raise one for each incident.
CREATE TABLE signal_counts (
    rule    TEXT PRIMARY KEY,
    raised  {long} NOT NULL,
    opened  {long} NOT NULL                       -- open now
) {strict};

-- What must still be so after a while, to be a signal: game servers whose lease expired, and bags of other players.
CREATE TABLE signal_checks (
    rule       TEXT NOT NULL,
    subject    TEXT NOT NULL,
    at         {long} NOT NULL,
    player_id  {guid},
    PRIMARY KEY (rule, subject)
) {clustered};
CREATE INDEX signal_checks_by_time ON signal_checks (rule, at);
CREATE INDEX signal_checks_by_player ON signal_checks (player_id) WHERE player_id IS NOT NULL;

-- Growth of items in the last hour, by ten minutes since 1970 (`slot`).
CREATE TABLE item_growth (
    item_id  {guid} NOT NULL,
    slot     {long} NOT NULL,
    grown    {long} NOT NULL,
    PRIMARY KEY (item_id, slot)
) {clustered};

-- What players got by reports of the game in the last hour, by ten minutes; only large changes.
CREATE TABLE player_gains (
    player_id  {guid} NOT NULL,
    item_id    {guid} NOT NULL,
    slot       {long} NOT NULL,
    gained     {long} NOT NULL,
    PRIMARY KEY (player_id, item_id, slot)
) {clustered};
CREATE INDEX player_gains_by_slot ON player_gains (slot);

-- Requests that were answered with a status from 400 to 499.
ALTER TABLE activity_minutes ADD COLUMN refused {long} NOT NULL DEFAULT 0;

-- refusals: first ten minutes that are not examined. conservation: first day that is not examined.
--: refusals, the number: the first period since which refusals are recorded without a long pause; 0: unknown.
INSERT INTO rollups (name, position, value)
SELECT 'refusals', {now} / 600000, 0 UNION ALL SELECT 'conservation', {now} / 86400000, 0;

-- Game masters get the permission, unless an operator narrowed the role.
INSERT INTO role_permissions (role, permission)
SELECT 'game master', 'signals.write' FROM roles WHERE name = 'game master'
AND (SELECT COUNT(*) FROM role_permissions p WHERE p.role = 'game master'
     AND p.permission IN ('players.read', 'users.query', 'moderation.ban', 'moderation.kick', 'moderation.mute',
                          'players.progress', 'players.rename', 'items.give', 'items.take', 'spells.write',
                          'variables.write', 'audit.read', 'audit.undo')) = 13;
