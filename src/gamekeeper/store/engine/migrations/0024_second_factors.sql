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
--: The log-in had a second factor.
ALTER TABLE tokens ADD COLUMN second_factor {boolean} NOT NULL DEFAULT {false};
