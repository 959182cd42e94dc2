-- When a token was last used, to the minute.
ALTER TABLE tokens ADD COLUMN last_used {long};
