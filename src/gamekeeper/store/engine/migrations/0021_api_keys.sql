-- API keys for programs.
-- API keys of programs. Revoked keys stay, because the audit log names them. Lists are JSON; null: no limit.
CREATE TABLE api_keys (
    id                {guid} PRIMARY KEY,      -- not secret; in the audit log it stands as the token's id
    user_id           {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE, -- the owner
    created_by        {guid},                  -- the account that created it; null: the command line
    scope_id          {guid} NOT NULL,         -- its Idempotency-Keys are stored under this id: its own, or that of a key or account that it replaces
    name              TEXT NOT NULL,
    role              {ordered} REFERENCES roles (name), -- null: it has `permissions`
    permissions       TEXT NOT NULL,           -- a JSON list, empty if it has a role
    addresses         TEXT,                    -- networks from which it may be used
    per_minute        INTEGER CHECK (per_minute >= 1), -- requests per minute and process
    items             TEXT,                    -- ids of the items that it may give
    most_per_request  INTEGER CHECK (most_per_request >= 1), -- most of an item in one gift
    most_per_day      INTEGER CHECK (most_per_day >= 1), -- most of an item on one UTC day
    servers           TEXT,                    -- names of the game servers that it may speak for
    created_at        {long} NOT NULL,
    expires_at        {long},
    suspended_at      {long},                  -- not usable until this is null again
    revoked_at        {long},
    last_used         {long},
    last_address      TEXT
) {strict};
CREATE INDEX api_keys_by_user ON api_keys (user_id);
-- Hashes of the texts of API keys. Rotation adds one; earlier ones stay, so that a leaked text is found.
CREATE TABLE api_key_texts (
    hash     TEXT PRIMARY KEY,
    key_id   {guid} NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    ends_at  {long}                            -- when the text stops working; null: with the key
) {strict};
CREATE INDEX api_key_texts_by_key ON api_key_texts (key_id);
