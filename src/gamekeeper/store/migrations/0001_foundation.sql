-- Guids are lower-case text on SQLite and uuid on PostgreSQL. Times are milliseconds since 1970, UTC.
-- `fold` is a name with its case folded away: what look-ups match and lists are ordered by, the same on both engines.

-- Accounts.
CREATE TABLE users (
    id            {guid} PRIMARY KEY,
    name          TEXT NOT NULL,
    fold          {ordered} NOT NULL UNIQUE,
    email         TEXT NOT NULL,
    email_fold    {ordered} UNIQUE,
    password      TEXT NOT NULL,               -- argon2id over the wire's SHA-256; '!' matches nothing
    editor        {boolean} NOT NULL,
    ban           {boolean} NOT NULL,
    kick          {boolean} NOT NULL,
    mute          {boolean} NOT NULL,
    api           {boolean} NOT NULL,          -- may get tokens
    users_query   {boolean} NOT NULL,
    users_manage  {boolean} NOT NULL,
    game_link     {boolean} NOT NULL,
    created_at    {long} NOT NULL,
    CHECK (users_query OR NOT users_manage)
) {strict};

CREATE TABLE mutes (
    user_id    {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    reason     TEXT NOT NULL,
    ends_at    {long}                          -- null: for good
) {strict};

-- One-time codes for setting a password without knowing the old one; the newest of an account wins.
CREATE TABLE resets (
    user_id     {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    code        TEXT NOT NULL,
    tries_left  INTEGER NOT NULL CHECK (tries_left >= 0),
    expires_at  {long} NOT NULL
) {strict};

-- An account as it is read: with its mute and its reset code while they last.
CREATE VIEW user_records AS
SELECT u.id, u.name, u.fold, u.email, u.password, u.editor, u.ban, u.kick, u.mute, u.api,
       u.users_query, u.users_manage, u.game_link, u.created_at, m.reason AS mute_reason, r.code AS reset_code
FROM users u
LEFT JOIN mutes m ON m.user_id = u.id AND (m.ends_at IS NULL OR m.ends_at > {now})
LEFT JOIN resets r ON r.user_id = u.id AND r.expires_at > {now} AND r.tries_left > 0;

-- Mail on its way out. A mail about a code goes nowhere once the code has run out.
CREATE TABLE mails (
    id          {guid} PRIMARY KEY,
    user_id     {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind        TEXT NOT NULL CHECK (kind IN ('password_reset')),
    queued_at   {long} NOT NULL,
    expires_at  {long} NOT NULL
) {strict};
CREATE INDEX mails_by_user ON mails (user_id);

-- Token pairs, by hash only. A family is a log-in and everything refreshed from it.
CREATE TABLE tokens (
    id               {guid} PRIMARY KEY,       -- public: for lists and for revoking
    family_id        {guid} NOT NULL,
    user_id          {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    access_hash      TEXT NOT NULL UNIQUE,
    refresh_hash     TEXT UNIQUE,              -- null: a service's token, issued on the command line
    read_only        {boolean} NOT NULL,
    issued_at        {long} NOT NULL,
    access_expires   {long} NOT NULL,
    refresh_expires  {long} NOT NULL,
    exchanged_at     {long},                   -- when the refresh token was first exchanged
    revoked_at       {long}
) {strict};
CREATE INDEX tokens_by_user ON tokens (user_id, issued_at);
CREATE INDEX tokens_by_family ON tokens (family_id);
CREATE INDEX tokens_by_age ON tokens (refresh_expires);

-- Passwords tried and not yet found right.
CREATE TABLE guesses (
    id       {guid} PRIMARY KEY,
    account  TEXT NOT NULL,                    -- the user's id, or the folded name nobody has
    caller   TEXT NOT NULL,                    -- the calling account's id, or the client's address
    at       {long} NOT NULL
) {strict};
CREATE INDEX guesses_by_account ON guesses (account, at);
CREATE INDEX guesses_by_age ON guesses (at);

-- The catalogue: what the game knows of. Characters may hold ids that are not in it.
CREATE TABLE items (
    id         {guid} PRIMARY KEY,
    name       {ordered} NOT NULL,
    stackable  {boolean} NOT NULL,
    max_stack  INTEGER CHECK (max_stack >= 1), -- null: the setting stack_cap
    bag_slots  INTEGER NOT NULL CHECK (bag_slots >= 0), -- 0: not a bag
    icon       TEXT,
    CHECK (NOT stackable OR bag_slots = 0)
) {strict};

CREATE TABLE spells (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL
) {strict};

CREATE TABLE variables (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL,
    type  TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean'))
) {strict};

CREATE TABLE classes (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL
) {strict};

CREATE TABLE maps (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL
) {strict};

-- Characters. The document is the record as it is sent, but for its tail; the columns beside it are in it too.
CREATE TABLE players (
    id           {guid} PRIMARY KEY,
    user_id      {guid} NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    fold         {ordered} NOT NULL UNIQUE,
    level        INTEGER NOT NULL CHECK (level >= 1),
    exp          {long} NOT NULL CHECK (exp >= 0),
    class_id     {guid} NOT NULL,
    map_id       {guid} NOT NULL,
    created_at   {long} NOT NULL,
    last_online  {long},                       -- in the tail: presence moves it, and presence is not a change
    document     {document} NOT NULL
) {strict};
CREATE INDEX players_by_rank ON players (level, exp, id);
CREATE INDEX players_by_user ON players (user_id, created_at, id);

CREATE TABLE bags (
    id          {guid} PRIMARY KEY,
    player_id   {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    slot_count  INTEGER NOT NULL CHECK (slot_count >= 1)
) {strict};
CREATE INDEX bags_by_player ON bags (player_id);

-- What characters hold: occupied slots only.
CREATE TABLE slots (
    player_id  {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    place      TEXT NOT NULL,                  -- 'inventory', 'bank', or the id of the bag it lies in
    slot       INTEGER NOT NULL CHECK (slot >= 0),
    item_id    {guid} NOT NULL,
    quantity   INTEGER NOT NULL CHECK (quantity >= 1),
    bag_id     {guid} REFERENCES bags (id),    -- the bag that this item is
    buffs      TEXT NOT NULL,                  -- five numbers as a JSON list
    PRIMARY KEY (player_id, place, slot)
) {clustered};
CREATE INDEX slots_by_bag ON slots (bag_id) WHERE bag_id IS NOT NULL;

CREATE TABLE known_spells (
    player_id  {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    slot       INTEGER NOT NULL CHECK (slot >= 0),
    spell_id   {guid} NOT NULL,
    PRIMARY KEY (player_id, slot)
) {clustered};

CREATE TABLE player_variables (
    player_id    {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    variable_id  {guid} NOT NULL,
    type         TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean')),
    value        {long} NOT NULL CHECK (type = 'Integer' OR value IN (0, 1)),
    PRIMARY KEY (player_id, variable_id)
) {clustered};

-- Game servers and who is on them. A server lives as long as its lease.
CREATE TABLE servers (
    name        TEXT PRIMARY KEY,
    expires_at  {long} NOT NULL
) {strict};

CREATE TABLE presence (
    player_id  {guid} PRIMARY KEY REFERENCES players (id) ON DELETE CASCADE,
    server     TEXT NOT NULL REFERENCES servers (name) ON DELETE CASCADE,
    fold       {ordered} NOT NULL                 -- the player's, so that the online list is read in order
) {strict};
CREATE INDEX presence_by_server ON presence (server);
CREATE INDEX presence_by_fold ON presence (fold, player_id);

-- A character with its tail: what is joined in when it is read, so that renaming a class rewrites nobody.
CREATE VIEW player_records AS
SELECT p.id, p.user_id, p.fold, p.level, p.exp, p.created_at, p.document,
       COALESCE(c.name, '') AS class_name,
       COALESCE(m.name, '') AS map_name,
       o.player_id IS NOT NULL AS online,
       p.last_online
FROM players p
LEFT JOIN classes c ON c.id = p.class_id
LEFT JOIN maps m ON m.id = p.map_id
LEFT JOIN presence o ON o.player_id = p.id;

-- The ledger: every change, append-only. Passwords, hashes and codes appear as "changed".
-- only: postgres
CREATE SEQUENCE ledger_seq CACHE 1;
CREATE TABLE ledger (
    seq         {ledger_number},
    at          {long} NOT NULL,
    kind        TEXT NOT NULL,                 -- the kind of a change in game/effects.py
    actor_id    {guid},                        -- the account that did it; null: the command line
    token_id    {guid},
    over_link   {boolean} NOT NULL,            -- said by a game server about its own world
    player_id   {guid},
    user_id     {guid},
    before      {json},
    after       {json},
    request_id  TEXT NOT NULL,
    reason      TEXT
) {strict};
CREATE INDEX ledger_by_player ON ledger (player_id, seq) WHERE player_id IS NOT NULL;
CREATE INDEX ledger_by_user ON ledger (user_id, seq) WHERE user_id IS NOT NULL;

-- Answers to requests that carried an Idempotency-Key.
CREATE TABLE idempotency_keys (
    account_id   {guid} NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    answer       {document} NOT NULL,
    at           {long} NOT NULL,
    PRIMARY KEY (account_id, key)
) {strict};
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);
