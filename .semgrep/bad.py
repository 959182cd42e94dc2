"""What the rules beside this file must find: each comment names the rule, and the next line is its example."""

# ruleid: guessable-randomness
import random

# ruleid: sql-from-strings
tx.returning(f"DELETE FROM players WHERE name = '{name}'")
# ruleid: sql-from-strings
db.execute("SELECT 1 FROM users WHERE id = " + user_id)
# ruleid: secrets-compared-plainly
right = request.token == kept
# ruleid: secrets-compared-plainly
right = row.reset_code != sent_code
# ruleid: fetched-address
httpx.get(request.query["callback"])
# ruleid: secrets-logged
log.problem(request.id, request.body)
# ruleid: secrets-logged
log.problem(request.id, access_token)
# ruleid: wall-clock
expired = row.expires_at < time.time()
# ruleid: commit-with-a-deadline
await asyncio.wait_for(db.execute("COMMIT"), 5)
# ruleid: unsafe-decoding
answer = pickle.loads(kept)
