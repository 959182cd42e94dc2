-- Up to which number the ledger has been thinned out: who follows it from before that would miss changes.
ALTER TABLE epoch ADD COLUMN trimmed {long} NOT NULL DEFAULT 0;
