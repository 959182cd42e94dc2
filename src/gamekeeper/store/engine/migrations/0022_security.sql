-- The security log: sign-ins, failed guesses, credentials, roles and approvals. Without references: an event about an
-- unknown or a deleted account stays.
CREATE TABLE security_events (
    id             {guid} PRIMARY KEY,
    at             {long} NOT NULL,
    kind           TEXT NOT NULL,                 -- the kinds are in game/security.py
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
