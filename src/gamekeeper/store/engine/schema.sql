-- The complete schema after all migrations; a test proves that the migrations build exactly this.
-- Guids are lower-case text on SQLite and uuid on PostgreSQL. Times are milliseconds since 1970, UTC.
-- `fold` is a case-folded name, for look-ups and for the order of lists, the same on both engines.
-- U+0001 in a fold starts a clash suffix with the row's id: it keeps duplicates unique, and searches ignore it.

-- Accounts.
CREATE TABLE users (
    id            {guid} PRIMARY KEY,
    name          TEXT NOT NULL,
    fold          {ordered} NOT NULL UNIQUE,
    email         TEXT NOT NULL,
    email_fold    {ordered} {never_null} UNIQUE, -- U+0001 and the id if the email is missing or a duplicate
    password      TEXT NOT NULL,               -- argon2id over the wire's SHA-256, or see game/access/passwords.py; '!' matches no password
    editor        {boolean} NOT NULL,
    ban           {boolean} NOT NULL,
    kick          {boolean} NOT NULL,
    mute          {boolean} NOT NULL,
    api           {boolean} NOT NULL,          -- has the role api
    users_query   {boolean} NOT NULL,
    users_manage  {boolean} NOT NULL,
    game_link     {boolean} NOT NULL,
    created_at    {long} NOT NULL,
    suspended     {boolean} NOT NULL DEFAULT {false}, -- cannot log in; the game is not concerned
    CHECK (users_query OR NOT users_manage)
) {strict};
-- Imported accounts whose password hash is not wrapped in argon2id yet.
CREATE INDEX users_to_wrap ON users (id) WHERE substr(password, 1, 9) = 'intersect';
-- Accounts with any permission.
CREATE INDEX users_with_powers ON users (fold)
    WHERE editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link;

-- Roles: named sets of permissions. game/access/permissions.py describes the permissions and the built-in roles.
CREATE TABLE roles (
    name       {ordered} PRIMARY KEY,
    about      TEXT NOT NULL,
    builtin    {boolean} NOT NULL,
    read_only  {boolean} NOT NULL              -- accounts with only such roles cannot write
) {strict};
CREATE TABLE role_permissions (
    role        {ordered} NOT NULL REFERENCES roles (name) ON DELETE CASCADE,
    permission  TEXT NOT NULL,
    PRIMARY KEY (role, permission)
) {clustered};
-- Roles of accounts, except the role api: users.api stands for it.
CREATE TABLE user_roles (
    user_id   {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role      {ordered} NOT NULL REFERENCES roles (name),
    given_at  {long} NOT NULL,
    PRIMARY KEY (user_id, role)
) {clustered};
CREATE INDEX user_roles_by_role ON user_roles (role, user_id);
-- Directly granted permissions that have no column in `users`.
CREATE TABLE user_permissions (
    user_id     {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    permission  TEXT NOT NULL,
    given_at    {long} NOT NULL,
    PRIMARY KEY (user_id, permission)
) {clustered};
CREATE INDEX user_permissions_by_name ON user_permissions (permission, user_id);
INSERT INTO roles (name, about, builtin, read_only) VALUES
    ('viewer', 'Reads players, accounts and the audit log; changes nothing.', {true}, {true}),
    ('moderator', 'Bans, mutes and kicks.', {true}, {false}),
    ('game master', 'Moderates, and changes players and their items.', {true}, {false}),
    ('admin', 'Has every permission, also those of later versions.', {true}, {false}),
    ('game server', 'Reports players over the game link.', {true}, {false}),
    ('shop', 'Looks players up and gives them items.', {true}, {false}),
    ('api', 'What every token of the API could do before there were roles.', {true}, {false});
INSERT INTO role_permissions (role, permission) VALUES
    ('viewer', 'players.read'), ('viewer', 'users.query'), ('viewer', 'audit.read'), ('viewer', 'logs.read'),
    ('moderator', 'players.read'), ('moderator', 'users.query'), ('moderator', 'moderation.ban'),
    ('moderator', 'moderation.kick'), ('moderator', 'moderation.mute'), ('moderator', 'chat.send'),
    ('moderator', 'players.command'), ('moderator', 'logs.read'), ('moderator', 'notes.write'),
    ('game master', 'players.read'), ('game master', 'users.query'), ('game master', 'moderation.ban'),
    ('game master', 'moderation.kick'), ('game master', 'moderation.mute'), ('game master', 'players.progress'),
    ('game master', 'players.rename'), ('game master', 'items.give'), ('game master', 'items.take'),
    ('game master', 'spells.write'), ('game master', 'variables.write'), ('game master', 'audit.read'),
    ('game master', 'audit.undo'), ('game master', 'chat.send'), ('game master', 'players.command'),
    ('game master', 'logs.read'), ('game master', 'world.write'), ('game master', 'notes.write'),
    ('game master', 'boards.write'),
    ('game master', 'signals.write'),
    ('game server', 'game.link'), ('game server', 'players.read'), ('game server', 'users.query'),
    ('shop', 'players.read'), ('shop', 'items.give'),
    ('api', 'players.read'), ('api', 'players.progress'), ('api', 'players.rename'), ('api', 'players.delete'),
    ('api', 'items.give'), ('api', 'items.take'), ('api', 'spells.write'), ('api', 'variables.write'),
    ('api', 'audit.read'), ('api', 'audit.undo'), ('api', 'bulk.run'), ('api', 'chat.send'), ('api', 'players.command'),
    ('api', 'world.write'), ('api', 'logs.read'), ('api', 'addresses.read');

CREATE TABLE mutes (
    user_id     {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    reason      TEXT NOT NULL,
    ends_at     {long},                        -- null: permanent
    moderator   TEXT NOT NULL DEFAULT '',      -- name given by the caller
    started_at  {long} NOT NULL DEFAULT 0,
    moderator_id {guid}                        -- the account with that name, if there was one
) {strict};
CREATE INDEX mutes_by_moderator_id ON mutes (moderator_id) WHERE moderator_id IS NOT NULL;
CREATE INDEX mutes_by_moderator ON mutes (lower(moderator)) WHERE moderator <> '';
-- Finds mutes in force without reading ended ones; permanent mutes (null) are at one end of the index.
CREATE INDEX mutes_by_end ON mutes (ends_at, started_at, user_id);

-- Bans: banned accounts cannot play and get no tokens.
CREATE TABLE bans (
    user_id     {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    reason      TEXT NOT NULL,
    moderator   TEXT NOT NULL,
    started_at  {long} NOT NULL,
    ends_at     {long},
    moderator_id {guid}                        -- as in mutes
) {strict};
CREATE INDEX bans_by_moderator_id ON bans (moderator_id) WHERE moderator_id IS NOT NULL;
CREATE INDEX bans_by_moderator ON bans (lower(moderator)) WHERE moderator <> '';
CREATE INDEX bans_by_end ON bans (ends_at, started_at, user_id);

-- One-time codes for resetting a password; an account has only its newest code.
CREATE TABLE resets (
    user_id     {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    code        TEXT NOT NULL,
    tries_left  INTEGER NOT NULL CHECK (tries_left >= 0),
    expires_at  {long} NOT NULL,
    mail_id     {guid}                         -- the mail that carries the code
) {strict};

-- Mail outbox. A mail is not sent any more when its reset code has expired.
CREATE TABLE mails (
    id           {guid} PRIMARY KEY,           -- also its Message-ID, the same on every try
    user_id      {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    caller_id    {guid},                       -- the account that requested the mail
    kind         TEXT NOT NULL CHECK (kind IN ('password_reset')),
    address      TEXT NOT NULL,                -- the account's email when the mail was queued
    queued_at    {long} NOT NULL,
    expires_at   {long} NOT NULL,
    tries        INTEGER NOT NULL CHECK (tries >= 0),
    next_try_at  {long},                       -- null: no further try
    taken_until  {long},                       -- end of the lease of the sender
    sent_at      {long},
    failed_at    {long},                       -- permanent failure
    last_error   TEXT,
    epoch        {guid},                       -- of the database when it was queued or retried; null: by an older version
    CHECK (next_try_at IS NULL OR (sent_at IS NULL AND failed_at IS NULL))
) {strict};
CREATE INDEX mails_by_user ON mails (user_id, queued_at);
CREATE INDEX mails_by_caller ON mails (caller_id, queued_at);
CREATE INDEX mails_by_age ON mails (queued_at);
CREATE INDEX mails_to_try ON mails (next_try_at) WHERE next_try_at IS NOT NULL;

-- Invitations that were not accepted yet, and the delivery of their mails. The secret of the link is never stored.
CREATE TABLE invitations (
    id           {guid} PRIMARY KEY,           -- also the Message-ID of its mail, the same on every try
    email        TEXT NOT NULL,
    email_fold   {ordered} NOT NULL UNIQUE,
    roles        TEXT NOT NULL,                -- names, separated by commas
    inviter_id   {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    invited_at   {long} NOT NULL,
    expires_at   {long} NOT NULL,
    tries        INTEGER NOT NULL CHECK (tries >= 0),
    next_try_at  {long},                       -- null: no further try
    taken_until  {long},                       -- end of the lease of the sender
    sent_at      {long},
    failed_at    {long},                       -- permanent failure
    last_error   TEXT,
    epoch        {guid},                       -- of the database when it was made; null: by an older version
    makes_decider {boolean} NOT NULL DEFAULT {false} -- its roles gave approvals.decide when it was sent
) {strict};
CREATE INDEX invitations_by_inviter ON invitations (inviter_id);
CREATE INDEX invitations_to_try ON invitations (next_try_at) WHERE next_try_at IS NOT NULL;
-- Hashes of the secrets in the links. Each try to send the mail makes a new secret; all of them stay valid.
CREATE TABLE invitation_links (
    secret_hash    TEXT PRIMARY KEY,
    invitation_id  {guid} NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
) {strict};
CREATE INDEX invitation_links_by_invitation ON invitation_links (invitation_id);

-- A mail with its account's name, its state, and its reset code while that is valid.
CREATE VIEW mail_records AS
SELECT m.id, m.user_id, u.name, m.kind, m.address, m.queued_at, m.expires_at, m.tries, m.next_try_at, m.sent_at,
       m.last_error, r.code,
       CASE WHEN m.sent_at IS NOT NULL THEN 'sent'
            WHEN m.failed_at IS NOT NULL THEN 'failed'
            WHEN r.code IS NULL THEN 'expired'
            WHEN m.taken_until > {now} THEN 'sending'
            ELSE 'queued' END AS state
FROM mails m
JOIN users u ON u.id = m.user_id
LEFT JOIN resets r ON r.user_id = m.user_id AND r.mail_id = m.id AND r.expires_at > {now} AND r.tries_left > 0;

-- Token pairs, stored as hashes. A family is a log-in with all tokens refreshed from it.
CREATE TABLE tokens (
    id               {guid} PRIMARY KEY,       -- not secret: for lists and for revoking
    family_id        {guid} NOT NULL,
    user_id          {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    access_hash      TEXT NOT NULL UNIQUE,
    refresh_hash     TEXT UNIQUE,              -- null: an API key, issued on the command line
    read_only        {boolean} NOT NULL,
    issued_at        {long} NOT NULL,
    access_expires   {long} NOT NULL,
    refresh_expires  {long} NOT NULL,
    exchanged_at     {long},                   -- when the refresh token was first exchanged
    revoked_at       {long},
    last_used        {long},                   -- updated at most once a minute; null: never used
    round            INTEGER NOT NULL DEFAULT 0, -- the account's round (see token_rounds) at the time of issue
    idle_ms          {long},                   -- idle timeout; null: none
    second_factor    {boolean} NOT NULL DEFAULT {false} -- the log-in had a second factor
) {strict};
CREATE INDEX tokens_by_user ON tokens (user_id, issued_at);
CREATE INDEX tokens_by_family ON tokens (family_id);
CREATE INDEX tokens_by_age ON tokens (refresh_expires);
CREATE INDEX tokens_by_issue ON tokens (issued_at, id);

-- Revokes all tokens of an account with one write, however many there are, by starting a new round.
CREATE TABLE token_rounds (
    user_id   {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,                -- tokens of an earlier round are revoked; no row means 0
    began_at  {long} NOT NULL
) {strict};

-- A token; if it was revoked by a new round, revoked_at is the start of that round.
CREATE VIEW token_records AS
SELECT t.id, t.family_id, t.user_id, u.name, t.access_hash, t.refresh_hash, t.read_only,
       t.issued_at, t.access_expires, t.refresh_expires, t.exchanged_at, t.last_used,
       CASE WHEN t.revoked_at IS NULL AND t.round < r.number THEN r.began_at ELSE t.revoked_at END AS revoked_at
FROM tokens t
JOIN users u ON u.id = t.user_id
LEFT JOIN token_rounds r ON r.user_id = t.user_id;

-- API keys of programs. Revoked keys stay, because the audit log names them. Lists are JSON; null: no limit.
CREATE TABLE api_keys (
    id                {guid} PRIMARY KEY,      -- not secret; in the audit log it stands as the token's id
    user_id           {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE, -- the owner
    created_by        {guid},                  -- the account that created it; null: the command line
    scope_id          {guid} NOT NULL,         -- its Idempotency-Keys are stored under this id: its own, or that of a key or account that it replaces
    name              TEXT NOT NULL,
    role              {ordered} REFERENCES roles (name), -- null: it has `permissions`
    permissions       {json_text} NOT NULL,    -- a JSON list, empty if it has a role
    addresses         {json_text},             -- networks from which it may be used
    per_minute        INTEGER CHECK (per_minute >= 1), -- requests per minute and process
    items             {json_text},             -- ids of the items that it may give
    most_per_request  INTEGER CHECK (most_per_request >= 1), -- most of an item in one gift
    most_per_day      INTEGER CHECK (most_per_day >= 1), -- most of an item on one UTC day
    servers           {json_text},             -- names of the game servers that it may speak for
    created_at        {long} NOT NULL,
    expires_at        {long},
    suspended_at      {long},                  -- not usable until this is null again
    revoked_at        {long},
    last_used         {long},
    last_address      TEXT
) {strict};
CREATE INDEX api_keys_by_owner ON api_keys (user_id, created_at DESC, id);
CREATE INDEX api_keys_by_age ON api_keys (created_at DESC, id);
CREATE INDEX api_keys_by_role ON api_keys (role) WHERE role IS NOT NULL;
-- Planner statistics: one account may own nearly all keys.
-- only: postgres
ALTER TABLE api_keys ALTER COLUMN user_id SET (n_distinct = -0.01);
-- Hashes of the texts of API keys. Rotation adds one; earlier ones stay, so that a leaked text is found.
CREATE TABLE api_key_texts (
    hash     TEXT PRIMARY KEY,
    key_id   {guid} NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    ends_at  {long},                           -- when the text stops working; null: with the key
    made_by  {guid}                            -- the account that created or rotated the key; null: the command line, or unknown
) {strict};
CREATE INDEX api_key_texts_by_key ON api_key_texts (key_id);

-- Most of an item that an account or API key may give on one UTC day by a role. Item 0: every other item.
CREATE TABLE role_quotas (
    role     {ordered} NOT NULL REFERENCES roles (name) ON DELETE CASCADE,
    item_id  {guid} NOT NULL,
    most     INTEGER NOT NULL CHECK (most >= 0),
    PRIMARY KEY (role, item_id)
) {clustered};
-- What givers with a daily limit gave, per item and UTC day. Its row is the lock of parallel gifts.
CREATE TABLE gift_totals (
    giver_id  {guid} NOT NULL,                 -- an account or an API key
    item_id   {guid} NOT NULL,
    day       {long} NOT NULL,                 -- days since 1970, by the database's clock
    quantity  {long} NOT NULL,
    PRIMARY KEY (giver_id, item_id, day)
) {clustered};
CREATE INDEX gift_totals_by_day ON gift_totals (day);

-- Second factors of accounts: TOTP secrets, encrypted with the key file, and public keys of passkeys.
CREATE TABLE second_factors (
    id             {guid} PRIMARY KEY,
    user_id        {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind           TEXT NOT NULL CHECK (kind IN ('totp', 'passkey')),
    name           TEXT NOT NULL,              -- chosen by its owner, such as Phone
    secret         TEXT NOT NULL,              -- totp: the encrypted secret; passkey: its public key
    credential_id  TEXT UNIQUE,                -- passkey only
    sign_count     {long} NOT NULL,            -- passkey: its signature counter; 0 if it has none
    used_step      {long} NOT NULL,            -- totp: time step of the last code; passkey: time of the last challenge
    added_at       {long} NOT NULL,
    last_used      {long}
) {strict};
CREATE INDEX second_factors_by_user ON second_factors (user_id, added_at);
-- Recovery codes of accounts with a second factor, as hashes.
CREATE TABLE recovery_codes (
    user_id    {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    code_hash  TEXT NOT NULL,
    made_at    {long} NOT NULL,
    used_at    {long},
    PRIMARY KEY (user_id, code_hash)
) {clustered};

-- Accounts of people at an OpenID Connect provider, with which they sign in to the console.
CREATE TABLE identities (
    id          {guid} PRIMARY KEY,
    user_id     {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer      TEXT NOT NULL,                 -- address of the provider
    subject     TEXT NOT NULL,                 -- id of the person there; it never changes
    started_at  {long} NOT NULL,               -- when the last sign-in began: it, and earlier ones, do not work again
    added_at    {long} NOT NULL,
    last_used   {long},
    UNIQUE (issuer, subject)
) {strict};
CREATE INDEX identities_by_user ON identities (user_id, added_at);

-- Password attempts that failed or are not checked yet, for rate limits.
CREATE TABLE guesses (
    id       {guid} PRIMARY KEY,
    account  TEXT NOT NULL,                    -- the account's id, or the folded name if no account has it
    caller   TEXT NOT NULL,                    -- client address (IPv6: its /64), or digest of calling account and address
    at       {long} NOT NULL
) {strict};
CREATE INDEX guesses_by_account ON guesses (account, at);
CREATE INDEX guesses_by_age ON guesses (at);
CREATE INDEX guesses_by_caller ON guesses (caller, at);

-- Callers that recently sent an account's right password: wrong guesses by others do not lock them out.
CREATE TABLE known_callers (
    user_id  {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    caller   TEXT NOT NULL,                    -- as in guesses
    at       {long} NOT NULL,                  -- last success, updated at most once an hour
    PRIMARY KEY (user_id, caller)
) {clustered};
CREATE INDEX known_callers_by_age ON known_callers (at);

-- Registrations by each caller in the last hour, for a rate limit.
CREATE TABLE registrations (
    caller_id  {guid} NOT NULL,
    at         {long} NOT NULL,
    user_id    {guid} NOT NULL,
    PRIMARY KEY (caller_id, at, user_id)
) {clustered};

-- The catalogue of the game. Players may have items, spells and variables whose ids are not in it.
CREATE TABLE items (
    id         {guid} PRIMARY KEY,
    name       {ordered} NOT NULL,
    stackable  {boolean} NOT NULL,
    max_stack  INTEGER CHECK (max_stack >= 1), -- null: the setting stack_cap
    bag_slots  INTEGER NOT NULL CHECK (bag_slots >= 0), -- 0: not a bag
    icon       TEXT,
    details    {json},                         -- JSON object with the entry's further fields, as the game published them
    CHECK (NOT stackable OR bag_slots = 0)
) {strict};
CREATE INDEX items_by_name ON items (name, id);

-- Pictures of items that the game published, written anew as PNG. `hash` is that of the pixels, and the picture's address.
CREATE TABLE item_pictures (
    item_id  {guid} PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    hash     TEXT NOT NULL,
    content  TEXT NOT NULL                     -- the PNG file, as base64
) {strict};
CREATE INDEX item_pictures_by_hash ON item_pictures (hash);

CREATE TABLE spells (
    id       {guid} PRIMARY KEY,
    name     {ordered} NOT NULL,
    details  {json}
) {strict};
CREATE INDEX spells_by_name ON spells (name, id);

CREATE TABLE variables (
    id       {guid} PRIMARY KEY,
    name     {ordered} NOT NULL,
    type     TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean', 'String', 'Number')),
    details  {json}
) {strict};
CREATE INDEX variables_by_name ON variables (name, id);

CREATE TABLE classes (
    id       {guid} PRIMARY KEY,
    name     {ordered} NOT NULL,
    details  {json}
) {strict};
CREATE INDEX classes_by_name ON classes (name, id);

CREATE TABLE maps (
    id       {guid} PRIMARY KEY,
    name     {ordered} NOT NULL,
    details  {json}
) {strict};
CREATE INDEX maps_by_name ON maps (name, id);

-- Variables of the server: declared by the game, with their value.
CREATE TABLE server_variables (
    id          {guid} PRIMARY KEY,
    name        {ordered} NOT NULL,
    type        TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean', 'String', 'Number')),
    text_id     TEXT NOT NULL DEFAULT '',      -- the name of the variable in texts of the game
    folder      TEXT NOT NULL DEFAULT '',      -- where the game's editor lists it
    value       {json_text},                   -- JSON; null: never set
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

-- The game's objects of other types, such as npc and quest. No rule depends on them.
CREATE TABLE game_objects (
    type     TEXT NOT NULL,                    -- object type of the Intersect engine
    id       {guid} NOT NULL,
    name     {ordered} NOT NULL,
    details  {json},                           -- JSON object with the entry's further fields
    PRIMARY KEY (type, id)
) {strict};
CREATE INDEX game_objects_by_name ON game_objects (type, name, id);

-- Players. The document is the JSON that the API sends, without the fields joined by player_records. The other columns
-- repeat fields of the document, except last_online.
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
    last_online  {long},                       -- not in the document: presence updates it without a change in the ledger
    document     {document} NOT NULL,
    play_time    {long} NOT NULL DEFAULT 0     -- in seconds
) {strict};
CREATE INDEX players_by_rank ON players (level, exp, id);
CREATE INDEX players_by_user ON players (user_id, created_at, id);
-- For filters: by class and map in order of name, and by the time when a player last left the game.
CREATE INDEX players_by_class ON players (class_id, fold);
CREATE INDEX players_by_map ON players (map_id, fold);
CREATE INDEX players_by_seen ON players (last_online, id);

CREATE TABLE bags (
    id          {guid} PRIMARY KEY,
    player_id   {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    slot_count  INTEGER NOT NULL CHECK (slot_count >= 1)
) {strict};
CREATE INDEX bags_by_player ON bags (player_id);

-- Items of players: occupied slots only.
CREATE TABLE slots (
    player_id  {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    place      TEXT NOT NULL,                  -- 'inventory', 'bank', or the id of the bag that the slot is in
    slot       INTEGER NOT NULL CHECK (slot >= 0),
    item_id    {guid} NOT NULL,
    quantity   INTEGER NOT NULL CHECK (quantity >= 1),
    bag_id     {guid} REFERENCES bags (id),    -- set if the item in this slot is a bag
    buffs      {json_text} NOT NULL,           -- five numbers as a JSON list
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
    value        {json_text} NOT NULL,
    PRIMARY KEY (guild_id, variable_id)
) {clustered};

-- Variables of players with text and decimals, as JSON. Integers and booleans are in player_variables.
CREATE TABLE player_texts (
    player_id    {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    variable_id  {guid} NOT NULL,
    type         TEXT NOT NULL CHECK (type IN ('String', 'Number')),
    value        {json_text} NOT NULL,
    PRIMARY KEY (player_id, variable_id)
) {clustered};

-- Game servers. A server whose lease has ended is deleted.
CREATE TABLE servers (
    name        TEXT PRIMARY KEY,
    expires_at  {long} NOT NULL,
    sent_seq    {long},                           -- changes up to this number were sent to it over the feed
    applied_seq {long}                            -- it has applied all changes up to this number
) {strict};

CREATE TABLE presence (
    player_id  {guid} PRIMARY KEY REFERENCES players (id) ON DELETE CASCADE,
    server     TEXT NOT NULL REFERENCES servers (name) ON DELETE CASCADE,
    fold       {ordered} NOT NULL,                -- fold, level and exp are copies of the player's: sort keys of the online lists
    level      INTEGER NOT NULL DEFAULT 1,
    exp        {long} NOT NULL DEFAULT 0,
    applied_seq {long}                            -- the game server has applied the player's changes up to this number
) {strict};
CREATE INDEX presence_by_server ON presence (server, fold, player_id);
CREATE INDEX presence_by_fold ON presence (fold, player_id);
CREATE INDEX presence_by_rank ON presence (level, exp, player_id);

-- A player with the fields that are joined when it is read, so that renaming a class does not rewrite its players.
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

-- An account with its mute, its ban and its reset code, if they are in force, and with its roles.
CREATE VIEW user_records AS
SELECT u.id, u.name, u.fold, u.email, u.password, u.editor, u.ban, u.kick, u.mute, u.api,
       u.users_query, u.users_manage, u.game_link, u.created_at, m.reason AS mute_reason, r.code AS reset_code,
       b.reason AS ban_reason,
       (SELECT COALESCE(SUM(CAST(p.play_time AS DOUBLE PRECISION)), 0) FROM players p WHERE p.user_id = u.id) AS play_time, -- computed only if selected
       -- Roles (with @), directly granted permissions (with =) and permissions of the roles; null for most accounts.
       CASE WHEN u.api OR EXISTS (SELECT 1 FROM user_roles h WHERE h.user_id = u.id)
                 OR EXISTS (SELECT 1 FROM user_permissions d WHERE d.user_id = u.id)
       THEN (SELECT {join_texts}(g.word, ',')
             FROM (SELECT '@' || h.role AS word FROM user_roles h WHERE h.user_id = u.id
                   UNION ALL SELECT p.permission FROM user_roles h JOIN role_permissions p ON p.role = h.role WHERE h.user_id = u.id
                   UNION ALL SELECT p.permission FROM role_permissions p WHERE u.api AND p.role = 'api'
                   UNION ALL SELECT '=' || d.permission FROM user_permissions d WHERE d.user_id = u.id) AS g) END AS grants,
       u.suspended
FROM users u
LEFT JOIN mutes m ON m.user_id = u.id AND (m.ends_at IS NULL OR m.ends_at > {now})
LEFT JOIN bans b ON b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now})
LEFT JOIN resets r ON r.user_id = u.id AND r.expires_at > {now} AND r.tries_left > 0;

-- The audit log: every change, append-only until old changes are trimmed. Passwords, hashes and codes appear as "changed".
-- only: postgres
CREATE SEQUENCE ledger_seq CACHE 1;
CREATE TABLE ledger (
    seq         {ledger_number},
    at          {long} NOT NULL,
    kind        TEXT NOT NULL,                 -- the kind of a change, as in game/ROOM/changes.py
    actor_id    {guid},                        -- the account that made the change; null: the command line
    token_id    {guid},
    over_link   {boolean} NOT NULL,            -- reported by a game server over the link
    player_id   {guid},
    user_id     {guid},
    before      {json},
    after       {json},
    request_id  TEXT NOT NULL,
    reason      TEXT,
    undoes      {long}                         -- number of the change that this one undoes
) {strict};
CREATE INDEX ledger_by_player ON ledger (player_id, seq) WHERE player_id IS NOT NULL;
CREATE INDEX ledger_by_user ON ledger (user_id, seq) WHERE user_id IS NOT NULL;
-- Names of moderators and of the targets of chat messages, for the erasure of a person.
CREATE INDEX ledger_by_named ON ledger (lower(COALESCE(after->>'Moderator', after->>'Target')))
    WHERE kind IN ('user_banned', 'user_unbanned', 'user_muted', 'user_unmuted', 'user_kicked', 'player_killed', 'chat_sent');
CREATE INDEX ledger_by_lifted ON ledger (lower(before->>'Moderator')) WHERE kind IN ('user_unbanned', 'user_unmuted');
CREATE INDEX ledger_by_undone ON ledger (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX ledger_by_actor ON ledger (actor_id, seq) WHERE actor_id IS NOT NULL AND NOT over_link;
-- Planner statistics: if nearly all changes were of one account or player, PostgreSQL would scan the whole ledger for
-- the changes of another.
-- only: postgres
ALTER TABLE ledger ALTER COLUMN actor_id SET (n_distinct = -0.01), ALTER COLUMN player_id SET (n_distinct = -0.01),
    ALTER COLUMN user_id SET (n_distinct = -0.01);

-- Stored answers to requests with an Idempotency-Key.
CREATE TABLE idempotency_keys (
    account_id   {guid} NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    answer       {document} NOT NULL,
    at           {long} NOT NULL,
    player_id    {guid},                       -- the player or account that the answer is about; both null: neither
    user_id      {guid},
    PRIMARY KEY (account_id, key)
) {strict};
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);
CREATE INDEX idempotency_keys_by_player ON idempotency_keys (player_id) WHERE player_id IS NOT NULL;
CREATE INDEX idempotency_keys_by_user ON idempotency_keys (user_id) WHERE user_id IS NOT NULL;

-- Background jobs of erasures: each row is an account, a player or an API key whose old changes and stored answers are not blanked yet.
CREATE TABLE erasures (
    id       {guid} PRIMARY KEY,
    user_id  {guid} NOT NULL,                  -- the account that was erased
    upto     {long} NOT NULL,                  -- changes up to this number are to be blanked
    seq      {long} NOT NULL DEFAULT 0,        -- cursor: changes up to this number are blanked already
    key      TEXT NOT NULL DEFAULT '',         -- cursor in the account's own Idempotency-Keys
    fields   {json} NOT NULL                   -- JSON object with the fields to remove from before and after, each null
) {strict};

-- The audit log as all readers see it: a change that waits to be blanked appears blanked already.
-- only: sqlite
CREATE VIEW masked_ledger AS
SELECT l.seq, l.at, l.kind, l.actor_id, l.token_id, l.over_link, l.player_id, l.user_id,
       CASE WHEN e.id IS NULL THEN l.before ELSE json_patch(l.before, e.fields) END AS before,
       CASE WHEN e.id IS NULL THEN l.after ELSE json_patch(l.after, e.fields) END AS after,
       l.request_id, CASE WHEN e.id IS NULL THEN l.reason END AS reason, l.undoes
FROM ledger l LEFT JOIN erasures e ON e.id = COALESCE(l.player_id, l.user_id) AND l.seq <= e.upto;
-- only: postgres
CREATE VIEW masked_ledger AS
SELECT l.seq, l.at, l.kind, l.actor_id, l.token_id, l.over_link, l.player_id, l.user_id,
       CASE WHEN e.id IS NULL THEN l.before
            ELSE CAST(CAST(l.before AS jsonb) - ARRAY(SELECT json_object_keys(e.fields)) AS json) END AS before,
       CASE WHEN e.id IS NULL THEN l.after
            ELSE CAST(CAST(l.after AS jsonb) - ARRAY(SELECT json_object_keys(e.fields)) AS json) END AS after,
       l.request_id, CASE WHEN e.id IS NULL THEN l.reason END AS reason, l.undoes
FROM ledger l LEFT JOIN erasures e ON e.id = COALESCE(l.player_id, l.user_id) AND l.seq <= e.upto;

-- Deliveries of commands to game servers. Only commands have rows.
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

-- Stored answers as all readers see them: an answer that waits to be blanked appears blanked already.
CREATE VIEW masked_keys AS
SELECT k.account_id, k.key, k.fingerprint,
       CASE WHEN EXISTS (SELECT 1 FROM erasures e WHERE e.id = k.account_id)
              OR EXISTS (SELECT 1 FROM erasures e WHERE e.id = COALESCE(k.player_id, k.user_id))
            THEN CAST('{}' AS {document}) ELSE k.answer END AS answer,
       k.at, k.player_id, k.user_id
FROM idempotency_keys k;

-- The security log: sign-ins, failed guesses, credentials, roles and approvals. Without references: an event about an
-- unknown or a deleted account stays.
CREATE TABLE security_events (
    id             {guid} PRIMARY KEY,
    at             {long} NOT NULL,
    kind           TEXT NOT NULL,                 -- the kinds are in game/access/security_log.py
    user_id        {guid},                        -- the account that the event is about
    actor_id       {guid},                        -- the account that caused it; null: the command line, or unknown
    address        TEXT,
    browser        TEXT,                          -- header User-Agent of the request
    credential_id  {guid},                        -- the token or API key that the event is about
    details        {json}
) {strict};
CREATE INDEX security_by_time ON security_events (at, id);
CREATE INDEX security_by_user ON security_events (user_id, at, id) WHERE user_id IS NOT NULL;
CREATE INDEX security_by_kind ON security_events (kind, at, id);
CREATE INDEX security_by_user_and_kind ON security_events (user_id, kind, at, id) WHERE user_id IS NOT NULL;
CREATE INDEX security_by_actor ON security_events (actor_id) WHERE actor_id IS NOT NULL AND (user_id IS NULL OR user_id <> actor_id);
-- Planner statistics: as for the ledger, nearly all events may be about one account.
-- only: postgres
ALTER TABLE security_events ALTER COLUMN user_id SET (n_distinct = -0.01), ALTER COLUMN kind SET (n_distinct = -0.01);

-- Addresses from which credentials were used. The holder of tokens and sessions is their account, since each log-in makes
-- new ones; the holder of an API key is the key.
CREATE TABLE known_addresses (
    holder_id  {guid} NOT NULL,
    address    TEXT NOT NULL,                     -- IPv6: the /64 network
    user_id    {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    first_at   {long} NOT NULL,
    used_at    {long},                            -- last use, updated once a day; null: not since the first day
    PRIMARY KEY (holder_id, address)
) {clustered};
CREATE INDEX known_addresses_by_user ON known_addresses (user_id);
CREATE INDEX known_addresses_by_age ON known_addresses (COALESCE(used_at, first_at));

-- The security log as all readers see it: without events about erased accounts, and without erased accounts as actors.
CREATE VIEW masked_security AS
SELECT s.id, s.at, s.kind, s.user_id, CASE WHEN e.id IS NULL THEN s.actor_id END AS actor_id,
       CASE WHEN e.id IS NULL THEN s.address END AS address, CASE WHEN e.id IS NULL THEN s.browser END AS browser,
       s.credential_id, s.details
FROM security_events s LEFT JOIN erasures e ON e.id = s.actor_id
WHERE NOT EXISTS (SELECT 1 FROM erasures x WHERE x.id = s.user_id);

-- Changes that wait for the approval of a second person, and those that were decided. `body` is base64.
CREATE TABLE approvals (
    id                 {guid} PRIMARY KEY,
    state              TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'denied', 'expired')),
    rule               TEXT NOT NULL,                 -- the rule that held it, such as items.give>10000
    requested_at       {long} NOT NULL,
    expires_at         {long} NOT NULL,
    actor_id           {guid} NOT NULL,               -- the account that asked for the change
    token_id           {guid},                        -- its token or API key
    scope_id           {guid} NOT NULL,               -- with `key`: where the answer is stored
    key                TEXT,
    method             TEXT NOT NULL,
    path               TEXT NOT NULL,
    query              TEXT NOT NULL,
    content_type       TEXT NOT NULL,
    body               TEXT NOT NULL,
    reason             TEXT,
    state_fingerprint  TEXT NOT NULL,                 -- of the state that the preview starts from
    preview            {json} NOT NULL,
    player_id          {guid},
    user_id            {guid},
    decided_at         {long},
    decided_by         {guid},
    decision_reason    TEXT,
    epoch              {guid}                         -- of the database when it was requested; null: by an older version
) {strict};
CREATE INDEX approvals_by_time ON approvals (requested_at, id);
CREATE INDEX approvals_by_state ON approvals (state, requested_at, id);
CREATE INDEX approvals_by_expiry ON approvals (expires_at) WHERE state = 'waiting';
CREATE INDEX approvals_by_actor ON approvals (actor_id, state);
CREATE INDEX approvals_by_user ON approvals (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX approvals_by_player ON approvals (player_id) WHERE player_id IS NOT NULL;
-- Planner statistics: one account may have asked for nearly all changes, and nearly all are in one state.
-- only: postgres
ALTER TABLE approvals ALTER COLUMN state SET (n_distinct = -0.01);
-- only: postgres
ALTER TABLE approvals ALTER COLUMN actor_id SET (n_distinct = -0.01);
-- only: postgres
ALTER TABLE approvals ALTER COLUMN user_id SET (n_distinct = -0.01);
-- only: postgres
ALTER TABLE approvals ALTER COLUMN player_id SET (n_distinct = -0.01);
-- Quantities that accounts gave on UTC days, while a rule limits gifts without approval.
CREATE TABLE approval_gifts (
    day       {long} NOT NULL,                        -- days since 1970-01-01
    actor_id  {guid} NOT NULL,
    item_id   {guid} NOT NULL,
    quantity  {long} NOT NULL,
    PRIMARY KEY (day, actor_id, item_id)
) {clustered};

-- Bulk jobs: one act for many players, which the server works through.
-- `details` is JSON with the item, variable, quantity and so on. Only targets that were not found have their text.
CREATE TABLE bulk_jobs (
    id          {guid} PRIMARY KEY,
    state       TEXT NOT NULL CHECK (state IN ('previewed', 'running', 'paused', 'finished', 'cancelled')),
    act         TEXT NOT NULL,                    -- name of an operation, such as give_item, or undo_change
    details     {json_text} NOT NULL,
    reason      TEXT,
    creator_id  {guid} NOT NULL,                  -- the account whose permissions count for each change
    token_id    {guid},                           -- its token or API key
    undoes      {guid},                           -- the job whose changes this one undoes
    approved    {boolean} NOT NULL,               -- a second person has approved the start
    problem     TEXT,                             -- why the server paused it
    players     INTEGER NOT NULL,                 -- number of targets with a player
    done        INTEGER NOT NULL,
    refused     INTEGER NOT NULL,
    held        INTEGER NOT NULL,                 -- changes that wait for an approval of their own
    not_found   INTEGER NOT NULL,
    repeated    INTEGER NOT NULL,                 -- players that were named more than once
    created_at  {long} NOT NULL,
    started_at  {long},
    ended_at    {long},
    epoch       {guid}                            -- of the database when it was started or resumed; null: by an older version
) {strict};
CREATE INDEX bulk_jobs_by_time ON bulk_jobs (created_at, id);
CREATE INDEX bulk_jobs_running ON bulk_jobs (created_at, id) WHERE state = 'running';
CREATE INDEX bulk_jobs_by_creator ON bulk_jobs (creator_id);
CREATE INDEX bulk_jobs_previewed ON bulk_jobs (creator_id, created_at, id) WHERE state = 'previewed';
-- The players of bulk jobs, with the result for each.
CREATE TABLE bulk_targets (
    job_id       {guid} NOT NULL,
    number       INTEGER NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'refused', 'held', 'not_found')),
    player_id    {guid},                          -- null: not found
    given        TEXT,                            -- the text that is not a player; null for a player
    undoes       {long},                          -- number of the change to undo
    seq          {long},                          -- number of the change in the audit log
    approval_id  {guid},
    code         TEXT,                            -- why it was refused
    problem      TEXT,
    undone_at    {long},                          -- when the change was undone; null: it is not undone
    undone_by    {guid},                          -- the job that undid it; null: a single undo
    PRIMARY KEY (job_id, number)
) {clustered};
CREATE INDEX bulk_targets_by_state ON bulk_targets (job_id, state, number);
CREATE INDEX bulk_targets_by_player ON bulk_targets (player_id) WHERE player_id IS NOT NULL;
CREATE INDEX bulk_targets_by_given ON bulk_targets (lower(given)) WHERE given IS NOT NULL;
CREATE INDEX bulk_targets_by_change ON bulk_targets (seq) WHERE seq IS NOT NULL;
CREATE INDEX bulk_targets_by_undo ON bulk_targets (job_id, undone_at) WHERE seq IS NOT NULL;

-- The game's own logs of activity and trades, as game servers report them. They are not part of the audit log. Without
-- references: an entry of a deleted player stays, until it is old or its account is erased.
CREATE TABLE activity_log (
    id         {guid} PRIMARY KEY,                -- made by the game, so that a repeated report adds nothing
    at         {long} NOT NULL,
    user_id    {guid} NOT NULL,                   -- all zeros: no account, such as a log-in with an unknown name
    player_id  {guid},
    named_id   {guid},                            -- without an account: the account whose name or email `meta` has
    action     TEXT NOT NULL,                     -- the actions are in game/world/logs.py
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

-- The epoch of the ledger: a restored copy gets a new id, so that followers notice that change numbers may repeat.
CREATE TABLE epoch (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    id       {guid} NOT NULL,
    trimmed  {long} NOT NULL DEFAULT 0         -- up to this number only the newest changes of each player are kept
) {strict};
INSERT INTO epoch (one, id) VALUES (1, {new_guid});

-- The economy: sums over the audit log, counted by game/insight/economy.py in the order of its numbers. One row.
CREATE TABLE economy (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    seq        {long} NOT NULL,                -- changes up to this number are counted
    at         {long} NOT NULL,                -- newest time of a counted change; 0: none
    since      {long} NOT NULL,                -- all changes from this time on are counted
    swept      {guid},                         -- holdings are counted for players up to this id; null: for all
    variables  {json_text} NOT NULL,           -- JSON list of the variables whose values are in holdings
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
CREATE INDEX item_gifts_by_giver ON item_gifts (giver_id, day);

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
    deleted     {boolean} NOT NULL,
    reviewed    {guid}                         -- a change of hide_staff is applied to staff up to this id; null: to all
) {strict};
CREATE UNIQUE INDEX boards_by_name ON boards (name) WHERE NOT deleted;

-- Seasons of boards. `game/insight/board_follower.py` counts them in the order of the audit log.
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
    withheld   {boolean} NOT NULL DEFAULT {false}, -- it would be listed, but its account is hidden
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
-- Blocks of neighbouring buckets, so that a page need not add up all buckets of a long list. A block starts at the first
-- key of a bucket and has all buckets up to the next block.
CREATE TABLE bucket_blocks (
    kind       TEXT NOT NULL CHECK (kind IN ('item', 'variable', 'season')),
    thing_id   {guid} NOT NULL,                -- the item or variable of a ranked list, or the season
    quantity   {long} NOT NULL,                -- first key: quantity or value, and player
    player_id  {guid} NOT NULL,
    buckets    {long} NOT NULL,                -- number of buckets
    entries    {long} NOT NULL,                -- sum of their entries
    PRIMARY KEY (kind, thing_id, quantity, player_id)
) {clustered};

-- Accounts whose players are on no board.
CREATE TABLE hidden_accounts (
    user_id  {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hidden   {boolean} NOT NULL,               -- false: to be shown again, and then deleted
    applied  {boolean} NOT NULL                -- the standings have it
) {strict};
CREATE INDEX hidden_accounts_waiting ON hidden_accounts (user_id) WHERE NOT applied;

-- Imports from other servers, with the progress of interrupted ones.
CREATE TABLE imports (
    source       TEXT PRIMARY KEY,             -- a digest of the ids in the source
    stage        TEXT NOT NULL,                -- the kind of rows being imported; 'done' at the end
    last         TEXT NOT NULL,                -- cursor: the last id of the stage that was imported
    report       TEXT NOT NULL,                -- path of the report file
    listed       {long} NOT NULL,              -- size of the report file in bytes
    counts       {json} NOT NULL,              -- result counts for each table so far
    started_at   {long} NOT NULL,
    finished_at  {long}
) {strict};

-- Rows of an imported game that Gamekeeper does not use, such as friends and quests: as they were, one JSON list for
-- each owner and kind.
CREATE TABLE player_leftovers (
    player_id  {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    data       {json} NOT NULL,
    PRIMARY KEY (player_id, kind)
) {clustered};

CREATE TABLE user_leftovers (
    user_id  {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL,
    data     {json} NOT NULL,
    PRIMARY KEY (user_id, kind)
) {clustered};

CREATE TABLE guild_leftovers (
    guild_id  {guid} NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    kind      TEXT NOT NULL,
    data      {json} NOT NULL,
    PRIMARY KEY (guild_id, kind)
) {clustered};

-- Signals: what the rules over changes, requests and game servers have found. `subject` is what a rule found it about,
-- such as an item; each incident is one signal. `evidence` is JSON, with numbers of changes and no names.
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
    evidence         {json_text} NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('open', 'acknowledged')),
    acknowledged_at  {long},
    acknowledged_by  {guid},
    note             TEXT
) {strict};
CREATE INDEX signals_by_subject ON signals (rule, subject, last_at);
CREATE INDEX signals_by_time ON signals (first_at, id);
CREATE INDEX signals_by_rule ON signals (rule, first_at, id);
CREATE INDEX signals_by_state ON signals (state, first_at, id);
CREATE INDEX signals_by_rule_and_state ON signals (rule, state, first_at, id);
CREATE INDEX signals_by_player ON signals (player_id) WHERE player_id IS NOT NULL;
CREATE INDEX signals_by_giver ON signals (giver_id) WHERE giver_id IS NOT NULL;

-- Number of signals of each rule: ever raised, and open. A row is locked before a signal of its rule is raised, so that
-- instances raise one for each incident.
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
    changes  {json_text},                         -- the largest changes, as JSON with numbers and no names
    PRIMARY KEY (item_id, slot)
) {clustered};

-- What players got by reports of the game in the last hour, by ten minutes; only large changes.
CREATE TABLE player_gains (
    player_id  {guid} NOT NULL,
    item_id    {guid} NOT NULL,
    slot       {long} NOT NULL,
    gained     {long} NOT NULL,
    changes    {json_text},                       -- the largest of them, as JSON with numbers and no names
    PRIMARY KEY (player_id, item_id, slot)
) {clustered};
CREATE INDEX player_gains_by_slot ON player_gains (slot);

-- Notes of staff about an account, or about one of its players. The player has no foreign key: a note outlives the
-- deletion of its player, and so is there again if that is undone. It goes with the account.
CREATE TABLE notes (
    id         {guid} PRIMARY KEY,
    user_id    {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    player_id  {guid},
    author_id  {guid},
    at         {long} NOT NULL,
    warning    {boolean} NOT NULL,
    text       TEXT NOT NULL
);
CREATE INDEX notes_by_time ON notes (at, id);
CREATE INDEX notes_by_user ON notes (user_id, at, id);
CREATE INDEX notes_by_player ON notes (player_id, at, id);

-- Tags of accounts and players. The player of an account's own tags is the zero guid.
CREATE TABLE tags (
    user_id    {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    player_id  {guid} NOT NULL,
    tag        TEXT NOT NULL,
    PRIMARY KEY (user_id, player_id, tag)
) {clustered};
CREATE INDEX tags_by_tag ON tags (tag, user_id, player_id);
CREATE INDEX tags_by_player ON tags (player_id);

-- Views of the console's lists that staff saved under a name: the filter, order and columns, as a query.
CREATE TABLE saved_views (
    id          {guid} PRIMARY KEY,
    user_id     {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    list        TEXT NOT NULL,                 -- players or accounts
    name        TEXT NOT NULL,
    query       TEXT NOT NULL,                 -- without the search, which may name a person
    shared      {boolean} NOT NULL,            -- all staff see it
    created_at  {long} NOT NULL,
    UNIQUE (user_id, list, name)
) {strict};
CREATE INDEX saved_views_shared ON saved_views (list, name, id) WHERE shared;

-- Checkpoint of the ordered lists: row counts of buckets of about 128 neighbouring keys, so that any page is found
-- without counting rows. Every process keeps the counts in memory and updates them from list_changes.
CREATE TABLE lists (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    number   INTEGER NOT NULL,                 -- number of checkpoints so far
    mark     TEXT NOT NULL,                    -- the blocks include list_changes up to here: a number (SQLite) or snapshot
    loads    INTEGER NOT NULL,                 -- number of bulk loads so far, which do not write list_changes
    built    INTEGER NOT NULL,                 -- number of bulk loads that the blocks include
    loading  {boolean} NOT NULL,               -- true only inside the transaction of a bulk load
    cluster  TEXT NOT NULL                     -- id of the PostgreSQL cluster that the mark belongs to
) {strict};
INSERT INTO lists (one, number, mark, loads, built, loading, cluster) VALUES (1, 0, {never}, 1, 0, {false}, '');

CREATE TABLE list_blocks (
    list     TEXT NOT NULL,
    place    INTEGER NOT NULL,
    buckets  {json} NOT NULL,                  -- [first key, row count] of each bucket, in key order
    PRIMARY KEY (list, place)
) {clustered};

-- Log of keys added to and removed from the lists since the checkpoint. It has keys, not buckets, which split and merge.
CREATE TABLE list_changes (
    mark   {list_mark},
    list   TEXT NOT NULL,
    level  {long} NOT NULL,
    exp    {long} NOT NULL,
    word   {ordered} NOT NULL,
    step   INTEGER NOT NULL CHECK (step IN (-1, 1))
) {strict};
-- only: postgres
CREATE INDEX list_changes_by_mark ON list_changes (mark);

-- only: sqlite
CREATE TRIGGER players_listed AFTER INSERT ON players WHEN (SELECT NOT loading FROM lists)
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('rank', NEW.level, NEW.exp, NEW.id, 1), ('names', 0, 0, NEW.fold, 1); END;
-- only: sqlite
CREATE TRIGGER players_unlisted AFTER DELETE ON players
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('rank', OLD.level, OLD.exp, OLD.id, -1), ('names', 0, 0, OLD.fold, -1); END;
-- only: sqlite
CREATE TRIGGER players_ranked AFTER UPDATE OF level, exp ON players
WHEN (OLD.level, OLD.exp) <> (NEW.level, NEW.exp)
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('rank', OLD.level, OLD.exp, OLD.id, -1), ('rank', NEW.level, NEW.exp, NEW.id, 1); END;
-- only: sqlite
CREATE TRIGGER players_renamed AFTER UPDATE OF fold ON players WHEN OLD.fold <> NEW.fold
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('names', 0, 0, OLD.fold, -1), ('names', 0, 0, NEW.fold, 1); END;
-- only: sqlite
CREATE TRIGGER users_listed AFTER INSERT ON users WHEN (SELECT NOT loading FROM lists)
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('users', 0, 0, NEW.fold, 1), ('emails', 0, 0, NEW.email_fold, 1); END;
-- only: sqlite
CREATE TRIGGER users_unlisted AFTER DELETE ON users
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('users', 0, 0, OLD.fold, -1), ('emails', 0, 0, OLD.email_fold, -1); END;
-- only: sqlite
CREATE TRIGGER users_readdressed AFTER UPDATE OF email_fold ON users WHEN OLD.email_fold <> NEW.email_fold
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('emails', 0, 0, OLD.email_fold, -1), ('emails', 0, 0, NEW.email_fold, 1); END;
-- only: sqlite
CREATE TRIGGER users_renamed AFTER UPDATE OF fold ON users WHEN OLD.fold <> NEW.fold
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('users', 0, 0, OLD.fold, -1), ('users', 0, 0, NEW.fold, 1); END;
-- only: sqlite
CREATE TRIGGER presence_listed AFTER INSERT ON presence
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('online', 0, 0, NEW.fold, 1), ('online_rank', NEW.level, NEW.exp, NEW.player_id, 1); END;
-- only: sqlite
CREATE TRIGGER presence_unlisted AFTER DELETE ON presence
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('online', 0, 0, OLD.fold, -1), ('online_rank', OLD.level, OLD.exp, OLD.player_id, -1); END;
-- only: sqlite
CREATE TRIGGER presence_ranked AFTER UPDATE OF level, exp ON presence
WHEN (OLD.level, OLD.exp) <> (NEW.level, NEW.exp)
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('online_rank', OLD.level, OLD.exp, OLD.player_id, -1),
             ('online_rank', NEW.level, NEW.exp, NEW.player_id, 1); END;
-- only: sqlite
CREATE TRIGGER presence_renamed AFTER UPDATE OF fold ON presence WHEN OLD.fold <> NEW.fold
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      VALUES ('online', 0, 0, OLD.fold, -1), ('online', 0, 0, NEW.fold, 1); END;

-- only: postgres
CREATE FUNCTION list_by_rank() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      SELECT 'rank', level, exp, word, step
      FROM (VALUES (OLD.level, OLD.exp, OLD.id::text, -1), (NEW.level, NEW.exp, NEW.id::text, 1))
           AS sides (level, exp, word, step)
      WHERE word IS NOT NULL AND (SELECT NOT loading FROM lists); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION list_by_fold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      SELECT TG_ARGV[0], 0, 0, word, step FROM (VALUES (OLD.fold, -1), (NEW.fold, 1)) AS sides (word, step)
      WHERE word IS NOT NULL AND (SELECT NOT loading FROM lists); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION list_by_email() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      SELECT 'emails', 0, 0, word, step FROM (VALUES (OLD.email_fold, -1), (NEW.email_fold, 1)) AS sides (word, step)
      WHERE word IS NOT NULL AND (SELECT NOT loading FROM lists); RETURN NULL; END $$;
-- only: postgres
CREATE FUNCTION list_online_by_rank() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO list_changes (list, level, exp, word, step)
      SELECT 'online_rank', level, exp, word, step
      FROM (VALUES (OLD.level, OLD.exp, OLD.player_id::text, -1), (NEW.level, NEW.exp, NEW.player_id::text, 1))
           AS sides (level, exp, word, step)
      WHERE word IS NOT NULL AND (SELECT NOT loading FROM lists); RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER players_listed_by_rank AFTER INSERT OR DELETE ON players FOR EACH ROW EXECUTE FUNCTION list_by_rank();
-- only: postgres
CREATE TRIGGER players_ranked AFTER UPDATE OF level, exp ON players
FOR EACH ROW WHEN ((OLD.level, OLD.exp) <> (NEW.level, NEW.exp)) EXECUTE FUNCTION list_by_rank();
-- only: postgres
CREATE TRIGGER players_listed_by_name AFTER INSERT OR DELETE ON players FOR EACH ROW EXECUTE FUNCTION list_by_fold('names');
-- only: postgres
CREATE TRIGGER players_renamed AFTER UPDATE OF fold ON players
FOR EACH ROW WHEN (OLD.fold <> NEW.fold) EXECUTE FUNCTION list_by_fold('names');
-- only: postgres
CREATE TRIGGER users_listed AFTER INSERT OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION list_by_fold('users');
-- only: postgres
CREATE TRIGGER users_renamed AFTER UPDATE OF fold ON users
FOR EACH ROW WHEN (OLD.fold <> NEW.fold) EXECUTE FUNCTION list_by_fold('users');
-- only: postgres
CREATE TRIGGER users_listed_by_email AFTER INSERT OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION list_by_email();
-- only: postgres
CREATE TRIGGER users_readdressed AFTER UPDATE OF email_fold ON users
FOR EACH ROW WHEN (OLD.email_fold <> NEW.email_fold) EXECUTE FUNCTION list_by_email();
-- only: postgres
CREATE TRIGGER presence_listed AFTER INSERT OR DELETE ON presence
FOR EACH ROW EXECUTE FUNCTION list_by_fold('online');
-- only: postgres
CREATE TRIGGER presence_renamed AFTER UPDATE OF fold ON presence
FOR EACH ROW WHEN (OLD.fold <> NEW.fold) EXECUTE FUNCTION list_by_fold('online');
-- only: postgres
CREATE TRIGGER presence_listed_by_rank AFTER INSERT OR DELETE ON presence
FOR EACH ROW EXECUTE FUNCTION list_online_by_rank();
-- only: postgres
CREATE TRIGGER presence_ranked AFTER UPDATE OF level, exp ON presence
FOR EACH ROW WHEN ((OLD.level, OLD.exp) <> (NEW.level, NEW.exp)) EXECUTE FUNCTION list_online_by_rank();

-- Play sessions: when each player was online, and on which game server. Triggers on `presence` write them, so that a
-- session is in the transaction of its presence, also when an older version writes that. Without references: a session
-- stays when its player is deleted, and an undo of the deletion finds it again.
CREATE TABLE play_sessions (
    player_id   {guid} NOT NULL,                  -- of an erased person: a random id
    started_at  {long} NOT NULL,                  -- never before the end of the player's previous session
    server      TEXT NOT NULL,
    ended_at    {long},                           -- null: the player is online
    counted_to  {long},                           -- its time is in the rollups up to here; null: nothing of it
    counted     {boolean} NOT NULL DEFAULT {false}, -- it has ended, and all of it is in the rollups
    PRIMARY KEY (player_id, started_at)
) {clustered};
CREATE UNIQUE INDEX play_sessions_open ON play_sessions (player_id) WHERE ended_at IS NULL;
CREATE INDEX play_sessions_waiting ON play_sessions (started_at, player_id)
WHERE NOT counted AND (ended_at IS NOT NULL OR counted_to IS NULL);
CREATE INDEX play_sessions_continuing ON play_sessions (counted_to) WHERE ended_at IS NULL AND counted_to IS NOT NULL;
CREATE INDEX play_sessions_by_age ON play_sessions (ended_at) WHERE counted;
-- Planner statistics: as for the ledger, nearly all sessions may be of one player.
-- only: postgres
ALTER TABLE play_sessions ALTER COLUMN player_id SET (n_distinct = -0.01);

-- Activity of each player that was ever online: what the rollups need to know of earlier days, and its play time.
CREATE TABLE player_activity (
    player_id  {guid} PRIMARY KEY,
    first_day  {long} NOT NULL,                   -- days since 1970, UTC: first and last day with a session
    last_day   {long} NOT NULL,
    is_new     {boolean} NOT NULL,                -- false: the player is older than the record of sessions
    play_ms    {long} NOT NULL                    -- sum of all its sessions, deleted ones included
) {strict};
-- Checkpoints of the rollups. A step locks its row and moves it in the transaction of its numbers.
CREATE TABLE rollups (
    name      TEXT PRIMARY KEY,
    position  {long} NOT NULL,                    -- everything before it is counted; the unit depends on the rollup
    value     {long} NOT NULL
) {strict};
-- activity: time since which sessions are recorded, and time before which old ones were deleted. online: first minute that is not in the hours yet, and the number
-- of players online when it began. sign_ins: first hour whose sign-ins are not counted.
INSERT INTO rollups (name, position, value)
SELECT 'activity', {now}, 0 UNION ALL SELECT 'online', {now} / 60000, 0 UNION ALL SELECT 'sign_ins', {now} / 3600000, 0;
-- refusals: first period of ten minutes that is not examined, and the first since which refusals are recorded without a long pause; 0: unknown.
-- conservation: first day that is not examined. economy_day, inserted by the first count of the economy: the newest day of which it has counted a change,
-- and the number of the first one.
INSERT INTO rollups (name, position, value)
SELECT 'refusals', {now} / 600000, 0 UNION ALL SELECT 'conservation', {now} / 86400000, 0;
-- Minutes since 1970 in which something happened.
CREATE TABLE activity_minutes (
    minute    {long} PRIMARY KEY,
    started   {long} NOT NULL DEFAULT 0,          -- play sessions
    ended     {long} NOT NULL DEFAULT 0,
    requests  {long} NOT NULL DEFAULT 0,
    errors    {long} NOT NULL DEFAULT 0,
    refused   {long} NOT NULL DEFAULT 0           -- requests that were answered with a status from 400 to 499
) {strict};
-- Hours since 1970. Players online at the end of each of the 60 minutes: their sum, least and greatest number.
CREATE TABLE activity_hours (
    hour        {long} PRIMARY KEY,
    online_sum  {long} NOT NULL DEFAULT 0,
    online_min  {long} NOT NULL DEFAULT 0,
    online_max  {long} NOT NULL DEFAULT 0,
    requests    {long} NOT NULL DEFAULT 0,
    errors      {long} NOT NULL DEFAULT 0,
    sign_ins    {long} NOT NULL DEFAULT 0
) {strict};
-- Days, weeks and months by their first day.
CREATE TABLE activity_periods (
    step        TEXT NOT NULL CHECK (step IN ('day', 'week', 'month')),
    day         {long} NOT NULL,
    active      {long} NOT NULL DEFAULT 0,
    new_players {long} NOT NULL DEFAULT 0,
    returned    {long} NOT NULL DEFAULT 0,
    play_ms     {long} NOT NULL DEFAULT 0,
    sign_ins    {long} NOT NULL DEFAULT 0,
    requests    {long} NOT NULL DEFAULT 0,
    errors      {long} NOT NULL DEFAULT 0,
    online_sum  {long} NOT NULL DEFAULT 0,        -- as in activity_hours
    online_max  {long} NOT NULL DEFAULT 0,
    PRIMARY KEY (step, day)
) {clustered};
-- New players by their first day, and how many of them were online 1, 7 and 30 days after it.
CREATE TABLE activity_cohorts (
    day      {long} PRIMARY KEY,
    players  {long} NOT NULL DEFAULT 0,
    day1     {long} NOT NULL DEFAULT 0,
    day7     {long} NOT NULL DEFAULT 0,
    day30    {long} NOT NULL DEFAULT 0
) {strict};

-- A session ends with the lease of its game server if that has expired. A new session first ends one that is still open,
-- and cuts one that ends in the future: the clock was ahead. It ignores sessions that start more than a minute from now,
-- and starts a millisecond after the last one at the earliest. A bulk load writes sessions itself.
-- only: sqlite
CREATE TRIGGER presence_begun AFTER INSERT ON presence WHEN (SELECT NOT loading FROM lists)
BEGIN UPDATE play_sessions
      SET ended_at = MAX(started_at, MIN({now}, COALESCE((SELECT s.expires_at FROM servers s WHERE s.name = play_sessions.server), {now})))
      WHERE player_id = NEW.player_id AND ended_at IS NULL
    ; UPDATE play_sessions SET ended_at = MAX(started_at, {now})
      WHERE player_id = NEW.player_id AND ended_at > {now}
        AND started_at = (SELECT MAX(s.started_at) FROM play_sessions s
                          WHERE s.player_id = NEW.player_id AND s.started_at <= {now} + 60000)
    ; INSERT INTO play_sessions (player_id, started_at, server)
      SELECT NEW.player_id, MAX({now}, COALESCE((SELECT MAX(s.started_at) + 1 FROM play_sessions s
                                                 WHERE s.player_id = NEW.player_id AND s.started_at <= {now} + 60000), 0)),
             NEW.server; END;
-- only: sqlite
CREATE TRIGGER presence_ended AFTER DELETE ON presence
BEGIN UPDATE play_sessions
      SET ended_at = MAX(started_at, MIN({now}, COALESCE((SELECT s.expires_at FROM servers s WHERE s.name = OLD.server), {now})))
      WHERE player_id = OLD.player_id AND ended_at IS NULL; END;
-- only: sqlite
CREATE TRIGGER presence_moved AFTER UPDATE OF server ON presence WHEN OLD.server <> NEW.server
BEGIN UPDATE play_sessions
      SET ended_at = MAX(started_at, MIN({now}, COALESCE((SELECT s.expires_at FROM servers s WHERE s.name = OLD.server), {now})))
      WHERE player_id = OLD.player_id AND ended_at IS NULL
    ; INSERT INTO play_sessions (player_id, started_at, server)
      SELECT NEW.player_id, MAX({now}, COALESCE((SELECT MAX(s.started_at) + 1 FROM play_sessions s
                                                 WHERE s.player_id = NEW.player_id AND s.started_at <= {now} + 60000), 0)),
             NEW.server; END;
-- only: postgres
CREATE FUNCTION record_session() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE player {guid} := CASE WHEN TG_OP = 'DELETE' THEN OLD.player_id ELSE NEW.player_id END
; last {long}
; BEGIN
  IF TG_OP <> 'INSERT' OR (SELECT NOT loading FROM lists) THEN
      UPDATE play_sessions
      SET ended_at = GREATEST(started_at, LEAST({now}, (SELECT s.expires_at FROM servers s WHERE s.name = play_sessions.server)))
      WHERE player_id = player AND ended_at IS NULL
; END IF
; IF TG_OP <> 'DELETE' AND (SELECT NOT loading FROM lists) THEN
      SELECT MAX(s.started_at) INTO last FROM play_sessions s WHERE s.player_id = player AND s.started_at <= {now} + 60000
    ; UPDATE play_sessions SET ended_at = GREATEST(started_at, {now})
      WHERE player_id = player AND started_at = last AND ended_at > {now}
    ; INSERT INTO play_sessions (player_id, started_at, server) VALUES (player, GREATEST({now}, last + 1), NEW.server)
; END IF
; RETURN NULL; END $$;
-- only: postgres
CREATE TRIGGER presence_recorded AFTER INSERT OR DELETE ON presence FOR EACH ROW EXECUTE FUNCTION record_session();
-- only: postgres
CREATE TRIGGER presence_moved AFTER UPDATE OF server ON presence
FOR EACH ROW WHEN (OLD.server <> NEW.server) EXECUTE FUNCTION record_session();

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

-- Search indexes: players and accounts by any three consecutive characters of a name or an email.
-- only: sqlite
CREATE VIRTUAL TABLE players_by_part USING fts5 (
    fold, content = 'players', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0
);
-- only: sqlite
INSERT INTO players_by_part (players_by_part) VALUES ('rebuild');
-- only: sqlite
CREATE TRIGGER players_by_part_added AFTER INSERT ON players
BEGIN INSERT INTO players_by_part (rowid, fold) VALUES (NEW.rowid, NEW.fold); END;
-- only: sqlite
CREATE TRIGGER players_by_part_removed AFTER DELETE ON players
BEGIN INSERT INTO players_by_part (players_by_part, rowid, fold) VALUES ('delete', OLD.rowid, OLD.fold); END;
-- only: sqlite
CREATE TRIGGER players_by_part_renamed AFTER UPDATE OF fold ON players WHEN OLD.fold <> NEW.fold
BEGIN INSERT INTO players_by_part (players_by_part, rowid, fold)
      VALUES ('delete', OLD.rowid, OLD.fold), (NULL, NEW.rowid, NEW.fold); END;
-- only: sqlite
CREATE VIRTUAL TABLE users_by_part USING fts5 (
    fold, email_fold, content = 'users', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0
);
-- only: sqlite
INSERT INTO users_by_part (users_by_part) VALUES ('rebuild');
-- only: sqlite
CREATE TRIGGER users_by_part_added AFTER INSERT ON users
BEGIN INSERT INTO users_by_part (rowid, fold, email_fold) VALUES (NEW.rowid, NEW.fold, NEW.email_fold); END;
-- only: sqlite
CREATE TRIGGER users_by_part_removed AFTER DELETE ON users
BEGIN INSERT INTO users_by_part (users_by_part, rowid, fold, email_fold)
      VALUES ('delete', OLD.rowid, OLD.fold, OLD.email_fold); END;
-- only: sqlite
CREATE TRIGGER users_by_part_renamed AFTER UPDATE OF fold, email_fold ON users
WHEN (OLD.fold, OLD.email_fold) <> (NEW.fold, NEW.email_fold)
BEGIN INSERT INTO users_by_part (users_by_part, rowid, fold, email_fold)
      VALUES ('delete', OLD.rowid, OLD.fold, OLD.email_fold), (NULL, NEW.rowid, NEW.fold, NEW.email_fold); END;

-- Each trigram is prefixed with the number of zeros at the end of the id (its tier): search.sql explains why.
-- only: postgres
CREATE FUNCTION search_parts(id uuid, VARIADIC words text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE tier text := LEAST(length(CAST(id AS text)) - length(rtrim(CAST(id AS text), '0')), 5)
; parts text[] := '{}'; word text
; BEGIN FOREACH word IN ARRAY words
        LOOP FOR n IN 1 .. COALESCE(length(split_part(word, chr(1), 1)), 0) - 2
             LOOP parts := parts || (tier || substr(word, n, 3)); END LOOP; END LOOP
; RETURN parts; END $$;
-- only: postgres
CREATE INDEX players_by_part ON players USING gin (search_parts(id, fold)) WITH (fastupdate = off);
-- only: postgres
CREATE INDEX users_by_part ON users USING gin (search_parts(id, fold, email_fold)) WITH (fastupdate = off);
