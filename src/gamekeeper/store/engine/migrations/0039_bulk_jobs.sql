-- Bulk jobs: one act for many players, which the server works through.
-- `details` is JSON with the item, variable, quantity and so on. Only targets that were not found have their text.
CREATE TABLE bulk_jobs (
    id          {guid} PRIMARY KEY,
    state       TEXT NOT NULL CHECK (state IN ('previewed', 'running', 'paused', 'finished', 'cancelled')),
    act         TEXT NOT NULL,                    -- name of an operation, such as give_item, or undo_change
    details     TEXT NOT NULL,
    reason      TEXT,
    creator_id  {guid} NOT NULL,                  -- the account whose permissions count for each change
    token_id    {guid},                           -- its token or API key
    undoes      {guid},                           -- the job whose changes this one undoes
    approved    {boolean} NOT NULL,               -- a second person has approved the start
    problem     TEXT,                             -- why the server paused it
    players     INTEGER NOT NULL,                 -- number of targets with a player
    done        INTEGER NOT NULL,
    refused     INTEGER NOT NULL,
    held        INTEGER NOT NULL,                 -- changes that wait for an approval of their own
    not_found   INTEGER NOT NULL,
    repeated    INTEGER NOT NULL,                 -- players that were named more than once
    created_at  {long} NOT NULL,
    started_at  {long},
    ended_at    {long}
) {strict};
CREATE INDEX bulk_jobs_by_time ON bulk_jobs (created_at, id);
CREATE INDEX bulk_jobs_running ON bulk_jobs (created_at, id) WHERE state = 'running';
CREATE INDEX bulk_jobs_by_creator ON bulk_jobs (creator_id);
-- The players of bulk jobs, with the result for each.
CREATE TABLE bulk_targets (
    job_id       {guid} NOT NULL,
    number       INTEGER NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'refused', 'held', 'not_found')),
    player_id    {guid},                          -- null: not found
    given        TEXT,                            -- the text that is not a player; null for a player
    undoes       {long},                          -- number of the change to undo
    seq          {long},                          -- number of the change in the audit log
    approval_id  {guid},
    code         TEXT,                            -- why it was refused
    problem      TEXT,
    PRIMARY KEY (job_id, number)
) {clustered};
CREATE INDEX bulk_targets_by_state ON bulk_targets (job_id, state, number);
CREATE INDEX bulk_targets_by_player ON bulk_targets (player_id) WHERE player_id IS NOT NULL;
