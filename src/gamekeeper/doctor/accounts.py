"""Accounts, imported passwords and waiting mail."""

from gamekeeper.doctor.findings import NOTE, Finding, Findings
from gamekeeper.game import erasing, legacy
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.retention import DAY_MS
from gamekeeper.settings import Settings
from gamekeeper.store import legacy as legacy_rows
from gamekeeper.store import mails, users
from gamekeeper.store.engine import Reading


async def check(tx: Reading, found: Findings, settings: Settings) -> None:
    if not await users.any_api(tx):
        found.add(NOTE, "accounts", "No account has API access. Give it to one with: gamekeeper users api NAME on")
    await _check_mail(tx, found, settings)
    for message in await erasing.unfinished(tx):
        found.add(NOTE, "erasing", message)


async def check_passwords(keeper: Keeper) -> list[Finding]:
    count = await legacy_rows.count(keeper.store)
    if not count:
        return []
    pace = f"`gamekeeper serve` does it while it runs, about {await legacy.per_minute(keeper)} a minute in each process"
    return [Finding(NOTE, "passwords", f"{count} imported passwords are still to be wrapped in argon2id; {pace}.")]


async def _check_mail(tx: Reading, found: Findings, settings: Settings) -> None:
    waiting = await mails.waiting(tx)
    if not settings.smtp_url:
        count = sum(waiting.values())
        message = f"Mail is not set up, so it waits in the outbox ({count} there now). Set GAMEKEEPER_SMTP_URL."
        found.add(NOTE, "mail", message)
        return
    for said, count in waiting.items():
        why = f"the last try ended with: {said}" if said else "not tried yet"
        found.add(NOTE, "mail", f"{count} mails wait to be sent; {why}. See: gamekeeper mail list")
    failed = await mails.count_failed(tx, settings.mail_days * DAY_MS)
    if failed:
        found.add(NOTE, "mail", f"{failed} mails were refused for good lately. See: gamekeeper mail list")
