-- Guesses from one address at all accounts.
CREATE INDEX guesses_by_caller ON guesses (caller, at);

-- Who gave an account's right password lately is not shut out by what others guess.
CREATE TABLE known_callers (
    user_id  {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    caller   TEXT NOT NULL,
    at       {long} NOT NULL,
    PRIMARY KEY (user_id, caller)
) {clustered};
CREATE INDEX known_callers_by_age ON known_callers (at);

-- Accounts that each caller registered in the last hour.
CREATE TABLE registrations (
    caller_id  {guid} NOT NULL,
    at         {long} NOT NULL,
    user_id    {guid} NOT NULL,
    PRIMARY KEY (caller_id, at, user_id)
) {clustered};
