-- A code names the mail that carries it: of the mails an account has, only that one is still wanted.
ALTER TABLE resets ADD COLUMN mail_id {guid};
UPDATE resets SET mail_id = (SELECT m.id FROM mails m WHERE m.user_id = resets.user_id
                             ORDER BY m.queued_at DESC, m.id LIMIT 1);

-- The outbox as it was is kept aside while it gets its new form: what waits in it is not lost.
CREATE TABLE waiting_mails AS SELECT id, user_id, kind, queued_at, expires_at FROM mails;
DROP TABLE mails;

-- Mail on its way out. A mail about a code goes nowhere once the code has run out.
CREATE TABLE mails (
    id           {guid} PRIMARY KEY,           -- its Message-ID too, the same on every try
    user_id      {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    caller_id    {guid},                       -- the account that asked for it
    kind         TEXT NOT NULL CHECK (kind IN ('password_reset')),
    address      TEXT NOT NULL,                -- where it goes: the account's when it was queued
    queued_at    {long} NOT NULL,
    expires_at   {long} NOT NULL,
    tries        INTEGER NOT NULL CHECK (tries >= 0),
    next_try_at  {long},                       -- null: there will be none
    taken_until  {long},                       -- until then somebody is sending it
    sent_at      {long},
    failed_at    {long},                       -- refused for good
    last_error   TEXT,
    CHECK (next_try_at IS NULL OR (sent_at IS NULL AND failed_at IS NULL))
) {strict};
CREATE INDEX mails_by_user ON mails (user_id, queued_at);
CREATE INDEX mails_by_caller ON mails (caller_id, queued_at);
CREATE INDEX mails_by_age ON mails (queued_at);
CREATE INDEX mails_to_try ON mails (next_try_at) WHERE next_try_at IS NOT NULL;

INSERT INTO mails (id, user_id, kind, address, queued_at, expires_at, tries, next_try_at)
SELECT w.id, w.user_id, w.kind, u.email, w.queued_at, w.expires_at, 0, w.queued_at
FROM waiting_mails w JOIN users u ON u.id = w.user_id;
DROP TABLE waiting_mails;

-- A mail as it is read: whose it is, the code it carries while that lives, and how it fares.
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
