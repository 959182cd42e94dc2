-- Who knows the texts of API keys, and which invitations were meant to make an account that decides on approvals.
--: The account that created or rotated the key; null: the command line, or unknown.
ALTER TABLE api_key_texts ADD COLUMN made_by {guid};
-- The first text was made with the key, and the security log has the rotations. An unknown maker is null.
UPDATE api_key_texts SET made_by = COALESCE(
    (SELECT e.actor_id FROM security_events e WHERE e.kind = 'key_rotated' AND e.credential_id = api_key_texts.key_id
     ORDER BY e.at DESC, e.id DESC LIMIT 1),
    CASE WHEN NOT EXISTS (SELECT 1 FROM api_key_texts o WHERE o.key_id = api_key_texts.key_id AND o.hash <> api_key_texts.hash)
         THEN (SELECT k.created_by FROM api_keys k WHERE k.id = api_key_texts.key_id) END)
WHERE ends_at IS NULL;
--: Its roles gave approvals.decide when it was sent.
ALTER TABLE invitations ADD COLUMN makes_decider {boolean} NOT NULL DEFAULT {false};
