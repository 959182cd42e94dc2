-- Indexes for the approvals of a person: for an export of their data, and for an erasure.
CREATE INDEX approvals_by_actor ON approvals (actor_id);
CREATE INDEX approvals_by_user ON approvals (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX approvals_by_player ON approvals (player_id) WHERE player_id IS NOT NULL;
-- Planner statistics: one account may have asked for nearly all changes, and nearly all are in one state.
-- only: postgres
ALTER TABLE approvals ALTER COLUMN state SET (n_distinct = -0.01);
-- only: postgres
ALTER TABLE approvals ALTER COLUMN actor_id SET (n_distinct = -0.01);
-- only: postgres
ALTER TABLE approvals ALTER COLUMN user_id SET (n_distinct = -0.01);
-- only: postgres
ALTER TABLE approvals ALTER COLUMN player_id SET (n_distinct = -0.01);
