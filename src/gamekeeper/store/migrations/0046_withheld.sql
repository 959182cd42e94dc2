-- Standings of hidden accounts keep whether they would be listed, so that final standings are restored exactly.
ALTER TABLE standings ADD COLUMN withheld {boolean} NOT NULL DEFAULT {false};
-- A change of `hide_staff` is applied in batches: accounts of staff up to this id are reviewed; null: all.
ALTER TABLE boards ADD COLUMN reviewed {guid};
-- Accounts that are hidden already: what they are now tells whether they would be listed.
UPDATE standings SET withheld = {true}
WHERE NOT listed AND (player_id, season_id) IN (
    SELECT w.player_id, w.season_id
    FROM hidden_accounts h JOIN players p ON p.user_id = h.user_id JOIN users u ON u.id = h.user_id
    JOIN standings w ON w.player_id = p.id JOIN seasons s ON s.id = w.season_id JOIN boards b ON b.id = s.board_id
    WHERE h.hidden AND (w.value > 0 OR NOT (b.gain OR b.ranks = 'play_time'))
      AND NOT EXISTS (SELECT 1 FROM bans x WHERE x.user_id = u.id AND (x.ends_at IS NULL OR x.ends_at > {now}))
      AND NOT (b.hide_staff AND (
          u.editor OR u.ban OR u.kick OR u.mute OR u.api OR u.users_query OR u.users_manage OR u.game_link
          OR EXISTS (SELECT 1 FROM user_roles g WHERE g.user_id = u.id)
          OR EXISTS (SELECT 1 FROM user_permissions g WHERE g.user_id = u.id))));
