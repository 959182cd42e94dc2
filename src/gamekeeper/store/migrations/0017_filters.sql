-- Those who are banned or muted now, found without reading what has ended: by when it ends, then by when it began.
CREATE INDEX mutes_by_end ON mutes (ends_at, started_at, user_id);
CREATE INDEX bans_by_end ON bans (ends_at, started_at, user_id);

-- Accounts with any power: few among many.
CREATE INDEX users_with_powers ON users (fold)
    WHERE editor OR ban OR kick OR mute OR api OR users_query OR users_manage OR game_link;
