-- Held changes and their approval.
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
    decision_reason    TEXT
) {strict};
CREATE INDEX approvals_by_time ON approvals (requested_at, id);
CREATE INDEX approvals_by_state ON approvals (state, requested_at, id);
CREATE INDEX approvals_by_expiry ON approvals (expires_at) WHERE state = 'waiting';
-- Quantities that accounts gave on UTC days, while a rule limits gifts without approval.
CREATE TABLE approval_gifts (
    day       {long} NOT NULL,                        -- days since 1970-01-01
    actor_id  {guid} NOT NULL,
    item_id   {guid} NOT NULL,
    quantity  {long} NOT NULL,
    PRIMARY KEY (day, actor_id, item_id)
) {clustered};
