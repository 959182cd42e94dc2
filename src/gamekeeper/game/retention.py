"""What is thrown away when it is old: answers to keys, guesses, tokens, mails, and changes if the operator says so."""

from collections import Counter
from functools import partial

from gamekeeper.game import guesses
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.effects import LedgerTrimmed
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.spelling import Spelling
from gamekeeper.store import guesses as guess_rows
from gamekeeper.store import keys, known_callers, ledger, mails, tokens
from gamekeeper.store.engine import Reading, Writing

TIDY_SECONDS = 10.0
MOST = 5_000  # rows in one go: nobody who writes should wait for the broom
MOST_CHANGES = 1_000
STEPS = 20  # one after the other: more than anybody writes meanwhile
DAY_MS = 24 * 60 * 60 * 1000
BROOM = Intent(request_id="retention")


async def tidy(keeper: Keeper) -> None:
    settings = keeper.settings

    async def delete_keys(tx: Writing) -> int:
        return await keys.delete_old(tx, settings.key_days * DAY_MS, MOST)

    async def delete_old(tx: Writing) -> None:
        guess_rows.delete_old(tx, guesses.WINDOW_MS, MOST)
        known_callers.delete_old(tx, guesses.KNOWN_MS, MOST)
        tokens.delete_old(tx, settings.token_days * DAY_MS, MOST)
        mails.retire(tx)
        await tx.flush()  # a row is not retired and deleted in one statement
        mails.delete_old(tx, settings.mail_days * DAY_MS)

    await keeper.store.write(delete_old)
    for _ in range(STEPS):
        if await keeper.store.write(delete_keys) < MOST:
            break
    for _ in range(STEPS if settings.ledger_days else 0):
        if not await trim(keeper, settings.ledger_days * DAY_MS):
            break


async def trim(keeper: Keeper, older_than_ms: int) -> bool:
    """A step of it: the oldest changes, with what they brought in carried on. False: there are none so old."""
    decide = partial(_trim, spelling=keeper.changes.spelling, older_than_ms=older_than_ms)
    done = await keeper.changes.apply(BROOM, decide, lambda any_: b"more" if any_ else b"")
    return bool(done.answer)


async def _trim(tx: Reading, spelling: Spelling, older_than_ms: int) -> Decision[bool]:
    trimmed = await ledger.trimmed(tx)
    old = await ledger.old(tx, trimmed, older_than_ms, MOST_CHANGES)
    # a trim is a change itself: not for every few that grow old
    if old.rows < MOST_CHANGES and old.oldest_ms < older_than_ms + DAY_MS:
        return Decision([], False)
    upto = old.last
    rows = await ledger.superseded(tx, trimmed, upto)
    sums: Counter[str] = Counter()
    for _, before, after in rows:
        sums.subtract(spelling.sums(before))
        sums.update(spelling.sums(after))
    carried = {item: quantity for item, quantity in sums.items() if quantity}
    return Decision([LedgerTrimmed(upto, [row[0] for row in rows], carried)], True)
