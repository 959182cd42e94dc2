-- Which change a change takes back; and what one account did, the newest first. What games report is not looked for so.
ALTER TABLE ledger ADD COLUMN undoes {long};
CREATE INDEX ledger_by_undone ON ledger (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX ledger_by_actor ON ledger (actor_id, seq) WHERE actor_id IS NOT NULL AND NOT over_link;

-- A token that ends when nobody has used it for so long: a person's, who went away from the browser.
ALTER TABLE tokens ADD COLUMN idle_ms {long};
CREATE INDEX tokens_by_issue ON tokens (issued_at, id);
