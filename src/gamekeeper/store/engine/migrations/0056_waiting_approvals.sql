-- How many changes of an account wait for approval: it may have asked for far more than those.
DROP INDEX IF EXISTS approvals_by_actor;
CREATE INDEX approvals_by_actor ON approvals (actor_id, state);
