-- Background jobs of erasures: each row is an account or a player whose old changes and kept answers are not blanked yet.
CREATE TABLE erasures (
    id       {guid} PRIMARY KEY,
    user_id  {guid} NOT NULL,                  -- the account that was erased
    upto     {long} NOT NULL,                  -- changes up to this number are blanked
    seq      {long} NOT NULL DEFAULT 0,        -- cursor: changes up to this number are blanked already
    key      TEXT NOT NULL DEFAULT '',         -- cursor in the account's own Idempotency-Keys
    fields   {json} NOT NULL                   -- the fields to take out of both sides, each as null
) {strict};

-- The ledger as every reader sees it: a change that waits to be blanked is shown as if it were blanked.
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

-- Kept answers as every reader sees them, in the same way.
CREATE VIEW masked_keys AS
SELECT k.account_id, k.key, k.fingerprint,
       CASE WHEN EXISTS (SELECT 1 FROM erasures e WHERE e.id = k.account_id)
              OR EXISTS (SELECT 1 FROM erasures e WHERE e.id = COALESCE(k.player_id, k.user_id))
            THEN CAST('{}' AS {document}) ELSE k.answer END AS answer,
       k.at, k.player_id, k.user_id
FROM idempotency_keys k;
