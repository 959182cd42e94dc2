-- Who banned or muted, whatever name was given. The names of a person are found without reading all changes and targets.
--: The account with the moderator's name, if there was one.
ALTER TABLE bans ADD COLUMN moderator_id {guid};
--: As in bans.
ALTER TABLE mutes ADD COLUMN moderator_id {guid};
CREATE INDEX bans_by_moderator_id ON bans (moderator_id) WHERE moderator_id IS NOT NULL;
CREATE INDEX mutes_by_moderator_id ON mutes (moderator_id) WHERE moderator_id IS NOT NULL;
--: Names of moderators and of the targets of chat messages, for the erasure of a person.
CREATE INDEX ledger_by_named ON ledger (lower(COALESCE(after->>'Moderator', after->>'Target')))
    WHERE kind IN ('user_banned', 'user_unbanned', 'user_muted', 'user_unmuted', 'user_kicked', 'player_killed', 'chat_sent');
CREATE INDEX ledger_by_lifted ON ledger (lower(before->>'Moderator')) WHERE kind IN ('user_unbanned', 'user_unmuted');
CREATE INDEX bulk_targets_by_given ON bulk_targets (lower(given)) WHERE given IS NOT NULL;
