-- The schema of version 0.1.0; schema.sql explains it.
--: Comments that begin with a colon explain the schema. They are not part of a migration, so they may be changed even
--: after databases have applied it. `make schema` shows what all migrations build together.
--: Guids are lower-case text on SQLite and uuid on PostgreSQL. Times are milliseconds since 1970, UTC.
--: `fold` is a case-folded name, for look-ups and for the order of lists, the same on both engines.
--: U+0001 in a fold starts a clash suffix with the row's id: it keeps duplicates unique, and searches ignore it.
--: Accounts.
CREATE TABLE users (
    id            {guid} PRIMARY KEY,
    name          TEXT NOT NULL,
    fold          {ordered} NOT NULL UNIQUE,
    email         TEXT NOT NULL,
    email_fold    {ordered} {never_null} UNIQUE, --: U+0001 and the id if the email is missing or a duplicate
    password      TEXT NOT NULL,               --: argon2id over the wire's SHA-256, or see game/access/passwords.py; '!' matches no password
    editor        {boolean} NOT NULL,
    ban           {boolean} NOT NULL,
    kick          {boolean} NOT NULL,
    mute          {boolean} NOT NULL,
    api           {boolean} NOT NULL,          --: has the role api
    users_query   {boolean} NOT NULL,
    users_manage  {boolean} NOT NULL,
    game_link     {boolean} NOT NULL,
    created_at    {long} NOT NULL,
    CHECK (users_query OR NOT users_manage)
) {strict};
--: Imported accounts whose password hash is not wrapped in argon2id yet.
CREATE INDEX users_to_wrap ON users (id) WHERE substr(password, 1, 9) = 'intersect';
--: Accounts with any permission.
CREATE INDEX users_with_powers ON users (fold)
    WHERE editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link;
CREATE TABLE mutes (
    user_id     {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    reason      TEXT NOT NULL,
    ends_at     {long},                        --: null: permanent
    moderator   TEXT NOT NULL DEFAULT '',      --: name given by the caller
    started_at  {long} NOT NULL DEFAULT 0
) {strict};
CREATE INDEX mutes_by_moderator ON mutes (lower(moderator)) WHERE moderator <> '';
--: Finds mutes in force without reading ended ones; permanent mutes (null) are at one end of the index.
CREATE INDEX mutes_by_end ON mutes (ends_at, started_at, user_id);
--: Bans: banned accounts cannot play and get no tokens.
CREATE TABLE bans (
    user_id     {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    reason      TEXT NOT NULL,
    moderator   TEXT NOT NULL,
    started_at  {long} NOT NULL,
    ends_at     {long}
) {strict};
CREATE INDEX bans_by_moderator ON bans (lower(moderator)) WHERE moderator <> '';
CREATE INDEX bans_by_end ON bans (ends_at, started_at, user_id);
--: One-time codes for resetting a password; an account has only its newest code.
CREATE TABLE resets (
    user_id     {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    code        TEXT NOT NULL,
    tries_left  INTEGER NOT NULL CHECK (tries_left >= 0),
    expires_at  {long} NOT NULL,
    mail_id     {guid}                         --: the mail that carries the code
) {strict};
--: Mail outbox. A mail is not sent any more when its reset code has expired.
CREATE TABLE mails (
    id           {guid} PRIMARY KEY,           --: also its Message-ID, the same on every try
    user_id      {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    caller_id    {guid},                       --: the account that requested the mail
    kind         TEXT NOT NULL CHECK (kind IN ('password_reset')),
    address      TEXT NOT NULL,                --: the account's email when the mail was queued
    queued_at    {long} NOT NULL,
    expires_at   {long} NOT NULL,
    tries        INTEGER NOT NULL CHECK (tries >= 0),
    next_try_at  {long},                       --: null: no further try
    taken_until  {long},                       --: end of the lease of the sender
    sent_at      {long},
    failed_at    {long},                       --: permanent failure
    last_error   TEXT,
    CHECK (next_try_at IS NULL OR (sent_at IS NULL AND failed_at IS NULL))
) {strict};
CREATE INDEX mails_by_user ON mails (user_id, queued_at);
CREATE INDEX mails_by_caller ON mails (caller_id, queued_at);
CREATE INDEX mails_by_age ON mails (queued_at);
CREATE INDEX mails_to_try ON mails (next_try_at) WHERE next_try_at IS NOT NULL;
--: A mail with its account's name, its state, and its reset code while that is valid.
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
--: Token pairs, stored as hashes. A family is a log-in with all tokens refreshed from it.
CREATE TABLE tokens (
    id               {guid} PRIMARY KEY,       --: not secret: for lists and for revoking
    family_id        {guid} NOT NULL,
    user_id          {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    access_hash      TEXT NOT NULL UNIQUE,
    refresh_hash     TEXT UNIQUE,              --: null: an API key, issued on the command line
    read_only        {boolean} NOT NULL,
    issued_at        {long} NOT NULL,
    access_expires   {long} NOT NULL,
    refresh_expires  {long} NOT NULL,
    exchanged_at     {long},                   --: when the refresh token was first exchanged
    revoked_at       {long},
    last_used        {long},                   --: updated at most once a minute; null: never used
    round            INTEGER NOT NULL DEFAULT 0, --: the account's round (see token_rounds) at the time of issue
    idle_ms          {long}                    --: idle timeout; null: none
) {strict};
CREATE INDEX tokens_by_user ON tokens (user_id, issued_at);
CREATE INDEX tokens_by_family ON tokens (family_id);
CREATE INDEX tokens_by_age ON tokens (refresh_expires);
CREATE INDEX tokens_by_issue ON tokens (issued_at, id);
--: Revokes all tokens of an account with one write, however many there are, by starting a new round.
CREATE TABLE token_rounds (
    user_id   {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,                --: tokens of an earlier round are revoked; no row means 0
    began_at  {long} NOT NULL
) {strict};
--: A token; if it was revoked by a new round, revoked_at is the start of that round.
CREATE VIEW token_records AS
SELECT t.id, t.family_id, t.user_id, u.name, t.access_hash, t.refresh_hash, t.read_only,
       t.issued_at, t.access_expires, t.refresh_expires, t.exchanged_at, t.last_used,
       CASE WHEN t.revoked_at IS NULL AND t.round < r.number THEN r.began_at ELSE t.revoked_at END AS revoked_at
FROM tokens t
JOIN users u ON u.id = t.user_id
LEFT JOIN token_rounds r ON r.user_id = t.user_id;
--: Password attempts that failed or are not checked yet, for rate limits.
CREATE TABLE guesses (
    id       {guid} PRIMARY KEY,
    account  TEXT NOT NULL,                    --: the account's id, or the folded name if no account has it
    caller   TEXT NOT NULL,                    --: client address (IPv6: its /64), or digest of calling account and address
    at       {long} NOT NULL
) {strict};
CREATE INDEX guesses_by_account ON guesses (account, at);
CREATE INDEX guesses_by_age ON guesses (at);
CREATE INDEX guesses_by_caller ON guesses (caller, at);
--: Callers that recently sent an account's right password: wrong guesses by others do not lock them out.
CREATE TABLE known_callers (
    user_id  {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    caller   TEXT NOT NULL,                    --: as in guesses
    at       {long} NOT NULL,                  --: last success, updated at most once an hour
    PRIMARY KEY (user_id, caller)
) {clustered};
CREATE INDEX known_callers_by_age ON known_callers (at);
--: Registrations by each caller in the last hour, for a rate limit.
CREATE TABLE registrations (
    caller_id  {guid} NOT NULL,
    at         {long} NOT NULL,
    user_id    {guid} NOT NULL,
    PRIMARY KEY (caller_id, at, user_id)
) {clustered};
--: The catalogue of the game. Players may have items, spells and variables whose ids are not in it.
CREATE TABLE items (
    id         {guid} PRIMARY KEY,
    name       {ordered} NOT NULL,
    stackable  {boolean} NOT NULL,
    max_stack  INTEGER CHECK (max_stack >= 1), --: null: the setting stack_cap
    bag_slots  INTEGER NOT NULL CHECK (bag_slots >= 0), --: 0: not a bag
    icon       TEXT,
    CHECK (NOT stackable OR bag_slots = 0)
) {strict};
CREATE INDEX items_by_name ON items (name, id);
CREATE TABLE spells (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL
) {strict};
CREATE INDEX spells_by_name ON spells (name, id);
CREATE TABLE variables (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL,
    type  TEXT NOT NULL CHECK (type IN ('Integer', 'Boolean'))
) {strict};
CREATE INDEX variables_by_name ON variables (name, id);
CREATE TABLE classes (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL
) {strict};
CREATE INDEX classes_by_name ON classes (name, id);
CREATE TABLE maps (
    id    {guid} PRIMARY KEY,
    name  {ordered} NOT NULL
) {strict};
CREATE INDEX maps_by_name ON maps (name, id);
--: Players. The document is the JSON that the API sends, without the fields joined by player_records. The other columns
--: repeat fields of the document, except last_online.
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
    last_online  {long},                       --: not in the document: presence updates it without a change in the ledger
    document     {document} NOT NULL,
    play_time    {long} NOT NULL DEFAULT 0     --: in seconds
) {strict};
CREATE INDEX players_by_rank ON players (level, exp, id);
CREATE INDEX players_by_user ON players (user_id, created_at, id);
CREATE TABLE bags (
    id          {guid} PRIMARY KEY,
    player_id   {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    slot_count  INTEGER NOT NULL CHECK (slot_count >= 1)
) {strict};
CREATE INDEX bags_by_player ON bags (player_id);
--: Items of players: occupied slots only.
CREATE TABLE slots (
    player_id  {guid} NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    place      TEXT NOT NULL,                  --: 'inventory', 'bank', or the id of the bag that the slot is in
    slot       INTEGER NOT NULL CHECK (slot >= 0),
    item_id    {guid} NOT NULL,
    quantity   INTEGER NOT NULL CHECK (quantity >= 1),
    bag_id     {guid} REFERENCES bags (id),    --: set if the item in this slot is a bag
    buffs      TEXT NOT NULL,                  --: five numbers as a JSON list
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
--: Game servers. A server whose lease has ended is deleted.
CREATE TABLE servers (
    name        TEXT PRIMARY KEY,
    expires_at  {long} NOT NULL
) {strict};
CREATE TABLE presence (
    player_id  {guid} PRIMARY KEY REFERENCES players (id) ON DELETE CASCADE,
    server     TEXT NOT NULL REFERENCES servers (name) ON DELETE CASCADE,
    fold       {ordered} NOT NULL,             --: fold, level and exp are copies of the player's: sort keys of the online lists
    level      INTEGER NOT NULL DEFAULT 1,
    exp        {long} NOT NULL DEFAULT 0
) {strict};
CREATE INDEX presence_by_server ON presence (server, fold, player_id);
CREATE INDEX presence_by_fold ON presence (fold, player_id);
CREATE INDEX presence_by_rank ON presence (level, exp, player_id);
--: A player with the fields that are joined when it is read, so that renaming a class does not rewrite its players.
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
--: An account with its mute, its ban and its reset code, if they are in force, and with its roles.
CREATE VIEW user_records AS
SELECT u.id, u.name, u.fold, u.email, u.password, u.editor, u.ban, u.kick, u.mute, u.api,
       u.users_query, u.users_manage, u.game_link, u.created_at, m.reason AS mute_reason, r.code AS reset_code,
       b.reason AS ban_reason,
       (SELECT COALESCE(SUM(CAST(p.play_time AS DOUBLE PRECISION)), 0) FROM players p WHERE p.user_id = u.id) AS play_time --: computed only if selected
FROM users u
LEFT JOIN mutes m ON m.user_id = u.id AND (m.ends_at IS NULL OR m.ends_at > {now})
LEFT JOIN bans b ON b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now})
LEFT JOIN resets r ON r.user_id = u.id AND r.expires_at > {now} AND r.tries_left > 0;
--: The audit log: every change, append-only until old changes are trimmed. Passwords, hashes and codes appear as "changed".
-- only: postgres
CREATE SEQUENCE ledger_seq CACHE 1;
CREATE TABLE ledger (
    seq         {ledger_number},
    at          {long} NOT NULL,
    kind        TEXT NOT NULL,                 --: the kind of a change, as in game/ROOM/changes.py
    actor_id    {guid},                        --: the account that made the change; null: the command line
    token_id    {guid},
    over_link   {boolean} NOT NULL,            --: reported by a game server over the link
    player_id   {guid},
    user_id     {guid},
    before      {json},
    after       {json},
    request_id  TEXT NOT NULL,
    reason      TEXT,
    undoes      {long}                         --: number of the change that this one undoes
) {strict};
CREATE INDEX ledger_by_player ON ledger (player_id, seq) WHERE player_id IS NOT NULL;
CREATE INDEX ledger_by_user ON ledger (user_id, seq) WHERE user_id IS NOT NULL;
CREATE INDEX ledger_by_undone ON ledger (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX ledger_by_actor ON ledger (actor_id, seq) WHERE actor_id IS NOT NULL AND NOT over_link;
--: Planner statistics: if nearly all changes were of one account or player, PostgreSQL would scan the whole ledger for
--: the changes of another.
-- only: postgres
ALTER TABLE ledger ALTER COLUMN actor_id SET (n_distinct = -0.01), ALTER COLUMN player_id SET (n_distinct = -0.01),
    ALTER COLUMN user_id SET (n_distinct = -0.01);
--: Stored answers to requests with an Idempotency-Key.
CREATE TABLE idempotency_keys (
    account_id   {guid} NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    answer       {document} NOT NULL,
    at           {long} NOT NULL,
    player_id    {guid},                       --: the player or account that the answer is about; both null: neither
    user_id      {guid},
    PRIMARY KEY (account_id, key)
) {strict};
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);
CREATE INDEX idempotency_keys_by_player ON idempotency_keys (player_id) WHERE player_id IS NOT NULL;
CREATE INDEX idempotency_keys_by_user ON idempotency_keys (user_id) WHERE user_id IS NOT NULL;
--: Background jobs of erasures: each row is an account, a player or an API key whose old changes and stored answers are not blanked yet.
CREATE TABLE erasures (
    id       {guid} PRIMARY KEY,
    user_id  {guid} NOT NULL,                  --: the account that was erased
    upto     {long} NOT NULL,                  --: changes up to this number are to be blanked
    seq      {long} NOT NULL DEFAULT 0,        --: cursor: changes up to this number are blanked already
    key      TEXT NOT NULL DEFAULT '',         --: cursor in the account's own Idempotency-Keys
    fields   {json} NOT NULL                   --: JSON object with the fields to remove from before and after, each null
) {strict};
--: The audit log as all readers see it: a change that waits to be blanked appears blanked already.
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
--: Stored answers as all readers see them: an answer that waits to be blanked appears blanked already.
CREATE VIEW masked_keys AS
SELECT k.account_id, k.key, k.fingerprint,
       CASE WHEN EXISTS (SELECT 1 FROM erasures e WHERE e.id = k.account_id)
              OR EXISTS (SELECT 1 FROM erasures e WHERE e.id = COALESCE(k.player_id, k.user_id))
            THEN CAST('{}' AS {document}) ELSE k.answer END AS answer,
       k.at, k.player_id, k.user_id
FROM idempotency_keys k;
--: The epoch of the ledger: a restored copy gets a new id, so that followers notice that change numbers may repeat.
CREATE TABLE epoch (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    id       {guid} NOT NULL,
    trimmed  {long} NOT NULL DEFAULT 0         --: up to this number only the newest changes of each player are kept
) {strict};
INSERT INTO epoch (one, id) VALUES (1, {new_guid});
--: Imports from other servers, with the progress of interrupted ones.
CREATE TABLE imports (
    source       TEXT PRIMARY KEY,             --: a digest of the ids in the source
    stage        TEXT NOT NULL,                --: the kind of rows being imported; 'done' at the end
    last         TEXT NOT NULL,                --: cursor: the last id of the stage that was imported
    report       TEXT NOT NULL,                --: path of the report file
    listed       {long} NOT NULL,              --: size of the report file in bytes
    counts       {json} NOT NULL,              --: result counts for each table so far
    started_at   {long} NOT NULL,
    finished_at  {long}
) {strict};
--: Checkpoint of the ordered lists: row counts of buckets of about 128 neighbouring keys, so that any page is found
--: without counting rows. Every process keeps the counts in memory and updates them from list_changes.
CREATE TABLE lists (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    number   INTEGER NOT NULL,                 --: number of checkpoints so far
    mark     TEXT NOT NULL,                    --: the blocks include list_changes up to here: a number (SQLite) or snapshot
    loads    INTEGER NOT NULL,                 --: number of bulk loads so far, which do not write list_changes
    built    INTEGER NOT NULL,                 --: number of bulk loads that the blocks include
    loading  {boolean} NOT NULL,               --: true only inside the transaction of a bulk load
    cluster  TEXT NOT NULL                     --: id of the PostgreSQL cluster that the mark belongs to
) {strict};
INSERT INTO lists (one, number, mark, loads, built, loading, cluster) VALUES (1, 0, {never}, 1, 0, {false}, '');
CREATE TABLE list_blocks (
    list     TEXT NOT NULL,
    place    INTEGER NOT NULL,
    buckets  {json} NOT NULL,                  --: [first key, row count] of each bucket, in key order
    PRIMARY KEY (list, place)
) {clustered};
--: Log of keys added to and removed from the lists since the checkpoint. It has keys, not buckets, which split and merge.
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
--: Search indexes: players and accounts by any three consecutive characters of a name or an email.
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
--: Each trigram is prefixed with the number of zeros at the end of the id (its tier): search.sql explains why.
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
