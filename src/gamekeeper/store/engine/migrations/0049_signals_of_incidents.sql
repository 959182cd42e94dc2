-- A subject may have several open signals, one for each incident. A lock on the row of the rule in `signal_counts` is what
-- keeps instances from raising two for one.
DROP INDEX IF EXISTS signals_open;
-- The largest changes of ten minutes, as JSON with numbers and quantities of changes and no names.
ALTER TABLE item_growth ADD COLUMN changes TEXT;
ALTER TABLE player_gains ADD COLUMN changes TEXT;
