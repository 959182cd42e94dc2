-- Who may not play and get no tokens, and until when.
CREATE TABLE bans (
    user_id     {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    reason      TEXT NOT NULL,
    moderator   TEXT NOT NULL,
    started_at  {long} NOT NULL,
    ends_at     {long}
) {strict};

ALTER TABLE mutes ADD COLUMN moderator TEXT NOT NULL DEFAULT '';
ALTER TABLE mutes ADD COLUMN started_at {long} NOT NULL DEFAULT 0;

DROP VIEW user_records;
CREATE VIEW user_records AS
SELECT u.id, u.name, u.fold, u.email, u.password, u.editor, u.ban, u.kick, u.mute, u.api,
       u.users_query, u.users_manage, u.game_link, u.created_at, m.reason AS mute_reason, r.code AS reset_code,
       b.reason AS ban_reason
FROM users u
LEFT JOIN mutes m ON m.user_id = u.id AND (m.ends_at IS NULL OR m.ends_at > {now})
LEFT JOIN bans b ON b.user_id = u.id AND (b.ends_at IS NULL OR b.ends_at > {now})
LEFT JOIN resets r ON r.user_id = u.id AND r.expires_at > {now} AND r.tries_left > 0;
