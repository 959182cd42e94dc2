-- The last sign-in of each account in the security log, its live sessions among its 200 newest tokens, and whether it
-- has a second factor.
-- name: activity
SELECT wanted.value->>'id',
       (SELECT MAX(s.at) FROM security_events s
        WHERE s.user_id = CAST(wanted.value->>'id' AS {guid}) AND s.kind = 'sign_in'),
       (SELECT COUNT(*)
        FROM (SELECT * FROM tokens WHERE user_id = CAST(wanted.value->>'id' AS {guid})
              ORDER BY issued_at DESC, id DESC LIMIT 200) AS t
        WHERE t.idle_ms IS NOT NULL AND t.revoked_at IS NULL AND t.access_expires > {now}
          AND COALESCE(t.last_used, t.issued_at) > {now} - t.idle_ms
          AND t.round = COALESCE((SELECT r.number FROM token_rounds r WHERE r.user_id = t.user_id), 0)),
       EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = CAST(wanted.value->>'id' AS {guid}))
FROM json_each($1) AS wanted;
