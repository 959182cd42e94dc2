"""Looks for what should never be: a ledger that does not add up, documents that differ from their columns, and so on.

It reads a page at a time and compares within one snapshot: it can run beside a serving Gamekeeper. It writes nothing,
unless it is asked to make missing indexes and to count the ordered lists anew.
"""

import ipaddress
import os
import shutil
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from gamekeeper.game import legacy, lists
from gamekeeper.game.inventory import BANK
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import CHECKPOINT, LISTINGS, Listing, View
from gamekeeper.game.lookup import ZERO, clashing_fold
from gamekeeper.game.order import Key, Order
from gamekeeper.game.players import Player
from gamekeeper.game.retention import DAY_MS
from gamekeeper.game.rows import columns
from gamekeeper.game.spelling import Spelling
from gamekeeper.http.cors import Cors
from gamekeeper.http.proxies import Proxies
from gamekeeper.mail import outbox
from gamekeeper.settings import BadSetting, Settings, strays
from gamekeeper.store import catalogue, imports, indexes, items, ledger, mails, players, spells, users
from gamekeeper.store import legacy as legacy_rows
from gamekeeper.store.engine import Reading, Row, Unusable
from gamekeeper.store.migrate import SchemaMismatch, pending, require_utf8

ERROR, NOTE = "error", "note"
PAGE = 500
KEYS = 10_000  # of a list in one go
SHOWN = 20  # of one check's findings; the others are counted
OTHERS_CAN_READ = 0o004
GIB = 1 << 30
LEAST_SHARE = 0.05  # of a disk, or a GiB of a large one
COMPARED = (
    "id",
    "user_id",
    "name",
    "fold",
    "level",
    "exp",
    "class_id",
    "map_id",
    "created_at",
    "play_time",
    "document",
)
TLS = "give --tls-cert and --tls-key to serve, or put a proxy that speaks TLS in front and listen on 127.0.0.1."
LONG_LOG = 10 * CHECKPOINT  # a serving process keeps it far shorter
REINDEX = "Make it, and have the lists looked at too, with: gamekeeper doctor --fix"
RECOUNT = "Count them anew with: gamekeeper doctor --fix"
IMPORTS = "imports"
GO_ON = "not everything is here. Give the same command again, and it goes on: gamekeeper import intersect … --report"
UNDO = "Undo what was written besides Gamekeeper the way it was done, or restore a backup."

Progress = Callable[[str, int, int], None]  # what is looked at, how many of it are done, how many there are


@dataclass(frozen=True, slots=True)
class Finding:
    level: str
    check: str
    message: str


class Findings:
    """Bounded, however much is wrong."""

    def __init__(self) -> None:
        self._shown: list[Finding] = []
        self._count: Counter[tuple[str, str]] = Counter()

    def add(self, level: str, check: str, message: str) -> None:
        self._count[level, check] += 1
        if self._count[level, check] <= SHOWN:
            self._shown.append(Finding(level, check, message))

    def all(self) -> list[Finding]:
        hidden = [(each, count - SHOWN) for each, count in self._count.items() if count > SHOWN]
        return self._shown + [Finding(*each, f"And {count} more like these.") for each, count in hidden]


async def examine(keeper: Keeper, progress: Progress, *, fix: bool = False) -> list[Finding]:
    """The later checks rest on the earlier ones: a broken file or an unknown schema is all there is to say.

    `fix` makes missing indexes and counts the lists anew first: nothing else can be made good from what is there.
    """
    found = await _integrity(keeper) or await _schema(keeper)
    if not found:
        found = [*await _indexed(keeper), await _recounted(keeper)] if fix else []
        found += await unfinished(keeper.store)
        found += await keeper.store.read(lambda tx: _contents(tx, keeper, progress))
        found += await _imported(keeper)
    return found + _unsafe(keeper)


def exposed(host: str) -> bool:
    """Whether others than this machine can reach it; a name other than localhost is taken to be reachable."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() != "localhost"


def overheard(settings: Settings) -> bool:
    """Whether passwords and tokens would cross a network in the clear."""
    return exposed(settings.host) and not settings.tls_cert


async def unfinished(tx: Reading) -> list[Finding]:
    """Imports that broke off; whether one runs right now cannot be known."""
    found: list[Finding] = []
    for stage, report, followed in await imports.unfinished(tx):
        what = f"The import with the report {report} broke off in the stage {stage}"
        later = f"{what}; a later one was finished. If that was of the same game, nothing is missing."
        message = f"{what}, or is at it now: {GO_ON} {report}"
        found.append(Finding(NOTE, IMPORTS, later) if followed else Finding(ERROR, IMPORTS, message))
    return found


async def _schema(keeper: Keeper) -> list[Finding]:
    try:
        await require_utf8(keeper.store)
        waiting = await pending(keeper.store)
    except (SchemaMismatch, Unusable) as problem:
        return [Finding(ERROR, "schema", str(problem))]
    names = ", ".join(f"{each.number:04} {each.name}" for each in waiting)
    return [Finding(ERROR, "schema", f"Not applied yet: {names}. Run: gamekeeper migrate")] if waiting else []


async def _integrity(keeper: Keeper) -> list[Finding]:
    found = Findings()
    for problem in await keeper.store.integrity():
        found.add(ERROR, "integrity", f"The database file is damaged: {problem}. Restore a backup.")
    return found.all()


async def _contents(tx: Reading, keeper: Keeper, progress: Progress) -> list[Finding]:
    found = Findings()
    await _ledger(tx, found, keeper.changes.spelling, progress)
    await _players(tx, found, keeper.changes.spelling, progress)
    if await _indexes(tx, found, keeper.store.engine):
        await _lists(tx, found, progress)
    await _bags(tx, found)
    await _sizes(tx, found, keeper.settings)
    await _accounts(tx, found, keeper.settings)
    return found.all()


# --- the ledger ----------------------------------------------------------------------------------------------------


async def _ledger(tx: Reading, found: Findings, spelling: Spelling, progress: Progress) -> None:
    """For every item: what the ledger brought in and took out is what lies in the slots."""
    brought = await _brought(tx, found, spelling, progress)
    held = await items.sums(tx)
    wrong = sorted(item for item in brought.keys() | held.keys() if brought.get(item, 0) != held.get(item, 0))
    named = await catalogue.by_id(tx, "items", wrong[:SHOWN])
    for item in wrong:
        name = f"{named[item].name} ({item})" if item in named else item
        wanted, there = brought.get(item, 0), held.get(item, 0)
        message = (
            f"The slots hold {there} of item {name}; the ledger accounts for {wanted} ({there - wanted:+}). {UNDO}"
        )
        found.add(ERROR, "ledger", message)


async def _brought(tx: Reading, found: Findings, spelling: Spelling, progress: Progress) -> dict[str, int]:
    sums: Counter[str] = Counter()
    last, seq = await ledger.last(tx), 0
    while page := await ledger.belongings_after(tx, seq, PAGE):
        for seq, before, after in page:
            try:
                sums.subtract(spelling.sums(before))
                sums.update(spelling.sums(after))
            except msgspec.DecodeError as error:
                found.add(ERROR, "ledger", f"Row {seq} of the ledger cannot be read: {error}. {UNDO}")
        progress("ledger", seq, last)
    return sums


# --- characters ----------------------------------------------------------------------------------------------------


async def _players(tx: Reading, found: Findings, spelling: Spelling, progress: Progress) -> None:
    total, done, last = await players.count(tx), 0, ZERO
    while page := await players.columns_after(tx, last, PAGE):
        filled = await items.inventory_slots_between(tx, page[0][0], page[-1][0])
        for row in page:
            player = _read(row, found, spelling)
            if player:
                _compare(row, player, found, spelling)
                _equipment(player, filled.get(player.id, set()), found)
        last, done = page[-1][0], done + len(page)
        progress("players", done, total)


def _read(row: Row, found: Findings, spelling: Spelling) -> Player | None:
    try:
        return spelling.read_player(row[-1], None)
    except (msgspec.DecodeError, ValueError) as error:
        found.add(ERROR, "documents", f"The document of player {row[0]} cannot be read: {error}. {UNDO}")
        return None


def _compare(row: Row, player: Player, found: Findings, spelling: Spelling) -> None:
    clashes = row[COMPARED.index("fold")] == clashing_fold(player.name, player.id)
    wanted = columns(player, spelling, clashes=clashes)
    differing = [name for name, value in zip(COMPARED, row, strict=True) if value != getattr(wanted, name)]
    if differing:
        message = (
            f"Player {player.name} ({row[0]}): the stored document and the columns differ in {', '.join(differing)}."
        )
        found.add(ERROR, "documents", f"{message} {UNDO}")


def _equipment(player: Player, filled: set[int], found: Findings) -> None:
    empty = [slot for slot in player.equipment if slot >= 0 and slot not in filled]
    if empty:
        slots = ", ".join(str(slot) for slot in empty)
        message = f"Player {player.name} ({player.id}) has equipped inventory slot {slots}, where nothing is."
        cure = f"Have the game report the Equipment anew: PUT /api/link/v1/players/{player.id}"
        found.add(ERROR, "equipment", f"{message} {cure}")


# --- indexes -------------------------------------------------------------------------------------------------------


async def _indexed(keeper: Keeper) -> list[Finding]:
    made = await indexes.create_missing(keeper.store)
    return [Finding(NOTE, "indexes", f"Made: {', '.join(made)}.")] if made else []


async def _indexes(tx: Reading, found: Findings, engine: str) -> bool:
    """Whether all are there: without them every page of a list would sort its whole table."""
    missing = await indexes.missing(tx, engine)
    for name in missing:
        found.add(ERROR, "indexes", f"The index {name} is missing, so requests get slower as the game grows. {REINDEX}")
    return not missing


# --- lists ---------------------------------------------------------------------------------------------------------


async def _recounted(keeper: Keeper) -> Finding:
    if await keeper.lists.rebuild():
        return Finding(NOTE, "lists", f"Counted anew: {', '.join(listing.name for listing in LISTINGS)}.")
    message = "Could not be counted anew: bulk loads or checkpoints came in between. Try again when less goes on."
    return Finding(ERROR, "lists", message)


async def _lists(tx: Reading, found: Findings, progress: Progress) -> None:
    """Pages and ranks are found by the counts of the buckets, so each has to be true."""
    view = await _view(tx, found)
    if view is None:
        return
    counts = [(listing, await listing.count(tx)) for listing in LISTINGS]
    total, done = sum(count for _, count in counts), 0
    for listing, count in counts:
        order = view.orders[listing.name]
        lows = [low for block in order.blocks for low in block.lows]
        held: Counter[int] = Counter()
        async for keys in _keys(tx, listing):
            _deal(keys, lows, held)
            done += len(keys)
            progress("lists", done, total)
        off = _off(order, held)
        if off:
            message = f"The list '{listing.name}' is off by {off} rows: it counts {order.total}, and there are {count}."
            found.add(ERROR, "lists", f"{message} {RECOUNT}")


async def _view(tx: Reading, found: Findings) -> View | None:
    try:
        view = await lists.view(tx)
    except (LookupError, TypeError, msgspec.DecodeError) as error:
        found.add(ERROR, "lists", f"The counts of the lists cannot be read: {error!r}. {RECOUNT}")
        return None
    if view is None:
        message = "The lists wait to be counted, after a bulk load, a restore or an update; till then pages are slow."
        found.add(NOTE, "lists", f"{message} `gamekeeper serve` does it when it starts. {RECOUNT}")
    elif view.changes > LONG_LOG:
        message = f"{view.changes} changes of the lists have been logged since they were last counted."
        found.add(NOTE, "lists", f"{message} `gamekeeper serve` sees to it. {RECOUNT}")
    return view


async def _keys(tx: Reading, listing: Listing[Any]) -> AsyncGenerator[Sequence[Key]]:
    """All of them in order, a page at a time; every page but the first begins with the last key of the one before."""
    last, first = listing.lowest, 0
    while keys := (await listing.keys(tx, last, KEYS))[first:]:
        yield keys
        last, first = keys[-1], 1


def _deal(keys: Sequence[Key], lows: Sequence[Key], held: Counter[int]) -> None:
    """Adds to each bucket how many of the keys belong into it; to -1, how many are below every bucket."""
    at = 0
    while at < len(keys):
        bucket = bisect_right(lows, keys[at]) - 1
        end = bisect_left(keys, lows[bucket + 1], at) if bucket + 1 < len(lows) else len(keys)
        held[bucket] += end - at
        at = end


def _off(order: Order, held: Counter[int]) -> int:
    counts = [count for block in order.blocks for count in block.counts]
    return held[-1] + sum(abs(held[bucket] - count) for bucket, count in enumerate(counts))


# --- bags and slots ------------------------------------------------------------------------------------------------


async def _bags(tx: Reading, found: Findings) -> None:
    for bag_id, player_id, count in await items.stray_bags(tx):
        found.add(ERROR, "bags", f"Bag {bag_id} of player {player_id} is in {count} slots instead of one. {UNDO}")
    for player_id, place, slot in await items.homeless_slots(tx):
        message = f"Slot {slot} of player {player_id} lies in bag {place}, which that player does not have. {UNDO}"
        found.add(ERROR, "bags", message)


async def _sizes(tx: Reading, found: Findings, settings: Settings) -> None:
    """Nothing is lost when a size shrinks, but it deserves to be known."""
    for place, count in await items.slots_beyond(tx, settings.inventory_slots, settings.bank_slots):
        size = settings.bank_slots if place == BANK else settings.inventory_slots
        found.add(NOTE, "sizes", _beyond(count, f"{place} slots", f"{place}_slots", size))
    count = await spells.beyond(tx, settings.spell_slots)
    if count:
        found.add(NOTE, "sizes", _beyond(count, "known spells", "spell_slots", settings.spell_slots))


def _beyond(count: int, what: str, setting: str, size: int) -> str:
    return f"{count} {what} lie beyond the setting {setting}, which is {size}. Raise it, or have the game move them."


# --- accounts and settings -----------------------------------------------------------------------------------------


async def _accounts(tx: Reading, found: Findings, settings: Settings) -> None:
    if not await users.any_api(tx):
        found.add(NOTE, "accounts", "No account has API access. Give it to one with: gamekeeper users api NAME on")
    await _mail(tx, found, settings)


async def _imported(keeper: Keeper) -> list[Finding]:
    count = await legacy_rows.count(keeper.store)
    if not count:
        return []
    pace = f"`gamekeeper serve` does it while it runs, about {await legacy.per_minute(keeper)} a minute in each process"
    return [Finding(NOTE, "passwords", f"{count} imported passwords are still to be wrapped in argon2id; {pace}.")]


async def _mail(tx: Reading, found: Findings, settings: Settings) -> None:
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


def _unsafe(keeper: Keeper) -> list[Finding]:
    settings, found = keeper.settings, list[Finding]()
    for check in (outbox.check, Proxies, Cors):
        try:
            check(settings)
        except BadSetting as problem:
            found.append(Finding(ERROR, "settings", str(problem)))
    found += [Finding(NOTE, "settings", each) for each in strays()]
    if overheard(settings):
        found.append(Finding(NOTE, "settings", f"{settings.host} can be reached from outside without TLS: {TLS}"))
    return found + (_file(keeper.store.path) if keeper.store.path else [])


def _file(file: Path) -> list[Finding]:
    found, disk = list[Finding](), shutil.disk_usage(file.parent)
    if disk.free < min(disk.total * LEAST_SHARE, GIB):
        message = f"The disk of {file} has {disk.free / GIB:.2f} GiB left: make room. A full one takes no more changes."
        found.append(Finding(NOTE, "disk", message))
    if os.name == "posix" and file.stat().st_mode & OTHERS_CAN_READ:
        found.append(Finding(NOTE, "settings", f"Everybody on this machine can read {file}. Run: chmod 600 {file}"))
    return found
