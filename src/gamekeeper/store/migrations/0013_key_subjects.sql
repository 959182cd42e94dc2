-- Whom a kept answer is about, so that it can be blanked with the person; null in both: about nobody.
ALTER TABLE idempotency_keys ADD COLUMN player_id {guid};
ALTER TABLE idempotency_keys ADD COLUMN user_id {guid};
CREATE INDEX idempotency_keys_by_player ON idempotency_keys (player_id) WHERE player_id IS NOT NULL;
CREATE INDEX idempotency_keys_by_user ON idempotency_keys (user_id) WHERE user_id IS NOT NULL;

-- Whose penalties name a moderator.
CREATE INDEX mutes_by_moderator ON mutes (lower(moderator)) WHERE moderator <> '';
CREATE INDEX bans_by_moderator ON bans (lower(moderator)) WHERE moderator <> '';
