"""Import the logs of activity and trades. Entries of accounts that were erased here are skipped."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

import msgspec

from gamekeeper.game.core.lookup import ZERO_GUID, fold
from gamekeeper.game.world.loads import load_activity, load_trades
from gamekeeper.game.world.logs import attach_name
from gamekeeper.intersect import values
from gamekeeper.intersect.import_run import FindKnown, ImportBatch, ImportRun, RowsByTable
from gamekeeper.intersect.sources import Row
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import imports, logs
from gamekeeper.store.world.logs import ActivityEntry, TradeEntry

E = TypeVar("E", ActivityEntry, TradeEntry)
# names of Intersect's actions by number: the first ones are the same in all versions
FIRST_ACTIONS = (
    *("Create", "Delete", "PasswordRecoveryAttempt", "PasswordRecoveryDispatched", "PasswordChanged", "TwoFactorAdd"),
    *("TwoFactorRemove", "TwoFactorSuccess", "TwoFactorFailure", "TwoFactorTimeout", "Login", "FailedLogin", "Logout"),
    *("DisconnectLogout", "DisconnectTimeout", "DisconnectBan"),
)
PLAYER_ACTIONS = ("CreatePlayer", "DeletePlayer", "SelectPlayer", "SwitchPlayer", "NameChange")
OLD_ACTIONS = (*FIRST_ACTIONS, "DisconnectKick", *PLAYER_ACTIONS)  # of 0.7.0
ACTIONS = (
    *(*FIRST_ACTIONS, "DisconnectBanFail", "DisconnectKick", "DisconnectKickFail", "Kill", "KillFail", "Mute"),
    *("MuteFail", *PLAYER_ACTIONS, "DisconnectDatabaseFailure"),
)
PEERS = {0: "Client", 1: "Editor"}
ERASED = "its account was deleted in Gamekeeper"
BAD_TIME = "its time cannot be read"
BAD_PARTY = "its account or one of its players is missing or not a guid"
BAD_ITEMS = "its items cannot be read"


async def import_activity(run: ImportRun) -> None:
    if "activity" not in run.data.tables:
        return
    read_entry = partial(read_activity, _find_upgrade(run))

    async def build(read: RowsByTable, batch: ImportBatch) -> None:
        named = await _find_named_users(batch.tx, read["activity"].values())
        new = await _select(batch, "activity", imports.find_known_activity, read["activity"], read_entry)
        batch.changes.append(load_activity([attach_name(each, named) for each in new]))

    await run.process_batches("activity", ("activity",), build)


async def import_trades(run: ImportRun) -> None:
    async def build(read: RowsByTable, batch: ImportBatch) -> None:
        batch.changes.append(
            load_trades(await _select(batch, "trades", imports.find_known_trades, read["trades"], read_trade))
        )

    await run.process_batches("trades", ("trades",), build)


async def count_old_entries(run: ImportRun) -> None:
    """Count the log entries in the database that are too old to be kept. A dry run counted those of the source."""
    if run.keeper and not run.dry_run:
        run.old_log_entries = await run.keeper.store.value(logs.SQL.count_old, find_oldest_kept(run)) or 0


def find_oldest_kept(run: ImportRun) -> int:
    """Return the time before which the next retention pass deletes log entries, in milliseconds since 1970."""
    days = run.settings.log_days
    return time.time_ns() // 1_000_000 - days * logs.DAY_MS if days else 0


async def _select(
    batch: ImportBatch,
    noun: str,
    find_known: FindKnown,
    read: Mapping[str, list[Row]],
    read_entry: Callable[[Row], E | str],
) -> list[E]:
    """Convert the rows that are not in the database. Those of erased accounts and invalid ones are reported."""
    for own_id, rows in read.items():
        batch.skip_doubled(noun, own_id, rows)
    known, found = await batch.find(find_known, read), list[E]()
    for own_id, rows in read.items():
        entry = None if own_id in known else read_entry(rows[0])
        if isinstance(entry, str):
            batch.skip(noun, own_id, entry)
        elif entry:
            found.append(entry)
    erased = await batch.find(ledger.find_deleted_users, {each.user_id for each in found})
    kept = [each for each in found if each.user_id not in erased]
    for each in found:
        if each.user_id in erased:
            batch.skip(noun, each.id, ERASED)
    batch.count(noun).there, batch.count(noun).taken = len(known), len(kept)
    run = batch.run
    batch.add_known(find_known, [each.id for each in kept])
    if run.dry_run:
        oldest = find_oldest_kept(run)
        run.old_log_entries += sum(each.at < oldest for each in kept)
    return kept


def _find_upgrade(run: ImportRun) -> int | None:
    """Return the time from which on the log has the action numbers of 0.7.1 and later; None: never, or unreadable.

    A file that was upgraded has both numberings. The numbers beyond those of 0.7.0 show when: one of them is written at
    every log-in.
    """
    source, table = run.data.find_source("activity"), run.data.tables["activity"]
    return values.parse_time(source.read_first(table, 0, 3, len(OLD_ACTIONS), len(ACTIONS)))


def read_activity(upgraded: int | None, row: Row) -> ActivityEntry | str:
    """Convert an entry of the log of activity, or return the reason why it cannot be imported."""
    own_id, raw_time, raw_user, raw_player, action, peer, address, meta = row
    at = values.parse_time(raw_time)
    if at is None:
        return BAD_TIME
    names = ACTIONS if upgraded is not None and at >= upgraded else OLD_ACTIONS
    if not isinstance(action, int) or not 0 <= action < len(names):
        return f"its action {action!r} is unknown"
    user_id, player_id = values.parse_guid(raw_user) or ZERO_GUID, values.parse_guid(raw_player)
    if ZERO_GUID in (user_id, player_id):
        player_id = None
    known = (names[action], PEERS.get(peer, PEERS[0]))
    texts = values.clean_text(address) or None, None if meta is None else values.clean_text(meta)
    return ActivityEntry(own_id, at, user_id, player_id, *known, *texts)


def read_trade(row: Row) -> TradeEntry | str:
    """Convert an entry of the log of trades, or return the reason why it cannot be imported."""
    own_id, raw_trade, raw_time, raw_user, raw_player, raw_target, address, raw_items, raw_target_items = row
    at = values.parse_time(raw_time)
    if at is None:
        return BAD_TIME
    parties = [values.parse_guid(each) for each in (raw_user, raw_player, raw_target)]
    trade_id = values.parse_guid(raw_trade)
    if trade_id is None or any(each is None or each == ZERO_GUID for each in parties):
        return BAD_PARTY
    items, target_items = read_items(raw_items), read_items(raw_target_items)
    if items is None or target_items is None:
        return BAD_ITEMS
    user_id, player_id, target_id = (each or ZERO_GUID for each in parties)
    where = values.clean_text(address) or None
    return TradeEntry(own_id, trade_id, at, user_id, player_id, target_id, where, items, target_items)


def read_items(raw: object) -> str | None:
    """Convert the items of one side of a trade to a JSON list; None if they cannot be read."""
    found = values.decode_list(raw or "[]")
    items = [None] if found is None else [_read_item(each) for each in found]
    return None if None in items else msgspec.json.encode(items).decode()


def _read_item(raw: Any) -> dict[str, Any] | None:  # noqa: ANN401 - any JSON
    if not isinstance(raw, dict):
        return None
    known = cast("dict[str, Any]", raw)
    item_id, quantity = values.parse_guid(known.get("ItemId")), values.parse_number(known.get("Quantity"), 0)
    if item_id is None or quantity is None:
        return None
    stats = known.get("StatBuffs") or known.get("Properties")
    buffs = values.parse_buffs(msgspec.json.encode(stats) if stats else None) or values.NO_BUFFS
    bag_id = values.parse_guid(known.get("BagId"))
    return {"ItemId": item_id, "Quantity": quantity, "BagId": bag_id, "StatBuffs": buffs}


async def _find_named_users(tx: Reading | None, read: Iterable[list[Row]]) -> dict[str, str]:
    """Find the accounts whose name was typed at a failed log-in, so that the entry is erased with the account."""
    typed = {fold(values.clean_text(rows[0][7])) for rows in read if rows[0][7]}
    return await logs.find_named_users(tx, typed) if tx and typed else {}
