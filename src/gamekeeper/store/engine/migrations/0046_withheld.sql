-- Standings of hidden accounts keep whether they would be listed, so that final standings are restored exactly.
ALTER TABLE standings ADD COLUMN withheld {boolean} NOT NULL DEFAULT {false};
-- A change of `hide_staff` is applied in batches: accounts of staff up to this id are reviewed; null: all.
ALTER TABLE boards ADD COLUMN reviewed {guid};
-- A change from before this migration may not be applied yet.
UPDATE boards SET reviewed = '00000000-0000-0000-0000-000000000000' WHERE NOT deleted;
-- Accounts that are hidden already, or whose showing is not applied: what they are now tells whether they would be
-- listed. Found from the accounts, of which there are few.
UPDATE standings SET withheld = {true}
WHERE NOT listed
  AND player_id IN (
      SELECT p.id FROM players p WHERE p.user_id IN (
          SELECT h.user_id FROM hidden_accounts h WHERE (h.hidden OR NOT h.applied)
          AND NOT EXISTS (SELECT 1 FROM bans x WHERE x.user_id = h.user_id AND (x.ends_at IS NULL OR x.ends_at > {now}))))
  AND (value > 0 OR season_id IN (
      SELECT s.id FROM seasons s JOIN boards b ON b.id = s.board_id WHERE NOT (b.gain OR b.ranks = 'play_time')))
  AND NOT (
      season_id IN (SELECT s.id FROM seasons s JOIN boards b ON b.id = s.board_id WHERE b.hide_staff)
      AND player_id IN (
          SELECT p.id FROM players p WHERE p.user_id IN (
              SELECT h.user_id FROM hidden_accounts h JOIN users u ON u.id = h.user_id
              WHERE u.editor OR u.ban OR u.kick OR u.mute OR u.api OR u.users_query OR u.users_manage OR u.game_link
              OR EXISTS (SELECT 1 FROM user_roles g WHERE g.user_id = u.id)
              OR EXISTS (SELECT 1 FROM user_permissions g WHERE g.user_id = u.id))));
