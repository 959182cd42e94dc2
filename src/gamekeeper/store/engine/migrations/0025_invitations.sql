-- Invitations of staff by mail.
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
    last_error   TEXT
) {strict};
CREATE INDEX invitations_by_inviter ON invitations (inviter_id);
CREATE INDEX invitations_to_try ON invitations (next_try_at) WHERE next_try_at IS NOT NULL;
-- Hashes of the secrets in the links. Each try to send the mail makes a new secret; all of them stay valid.
CREATE TABLE invitation_links (
    secret_hash    TEXT PRIMARY KEY,
    invitation_id  {guid} NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
) {strict};
CREATE INDEX invitation_links_by_invitation ON invitation_links (invitation_id);
