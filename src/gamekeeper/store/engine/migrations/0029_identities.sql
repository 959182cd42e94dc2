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
