"""The latest changes of the home page. Similar changes in a row, such as those of a bulk job, are one line."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.console import bulk, changes, differences
from gamekeeper.console.differences import TIMES_SIGN, Difference
from gamekeeper.console.formats import format_number
from gamekeeper.console.texts import ngettext
from gamekeeper.game import history, undo
from gamekeeper.game.codec import ChangeSide
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import catalogue
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import HistoryChange, HistoryFilter

LINES = 10  # lines that the home page shows
MOST_READ = 100  # changes read at most to fill the lines
LEAST_FOLDED = 3  # fewer similar changes in a row stay single lines with their differences
GIVEN, TAKEN = "items_given", "items_taken"


class LatestLine(NamedTuple):
    """One line: a single change with its differences, or several similar ones with a summary."""

    told: HistoryChange  # the newest of the changes
    lines: Sequence[Difference] = ()
    size: int = 1  # number of changes
    summary: str = ""
    href: str = ""  # list of all the changes
    first: int = 0  # number of the oldest of the changes
    is_undone: bool = False  # all of the changes are undone
    can_undo: bool = False  # a change of this kind can be undone; the preview of the undo checks the rest


class LatestChanges(NamedTuple):
    lines: list[LatestLine]
    undone: Mapping[int, int]


async def load(keeper: Keeper, *, accounts: bool) -> LatestChanges:
    """Load the newest changes, as few as fill the lines. `accounts`: whether the viewers may see accounts."""
    wanted = HistoryFilter(accounts=accounts)
    page = await keeper.store.read(lambda tx: history.load_page(tx, wanted, None, LINES))
    read, undone, following = page.changes, dict(page.undone), page.next
    if following is not None and len(fold(read)) < LINES:
        rest = await keeper.store.read(lambda tx: history.load_page(tx, wanted, page.next, MOST_READ - LINES))
        read, undone, following = [*read, *rest.changes], undone | dict(rest.undone), rest.next
    groups = fold(read)[:LINES]
    single = [group[0] for group in groups if len(group) == 1]
    found = await differences.list_differences(keeper, single, sees_accounts=accounts)
    by_number = {told.seq: lines for told, lines in zip(single, found, strict=True)}
    lines: list[LatestLine] = []
    for group in groups:
        told = group[0]
        if len(group) == 1:
            is_undone = told.seq in undone
            # the page is the same for all who may undo changes, and hardly anybody may undo those of the game
            can_undo = not is_undone and undo.is_undoable(told) and not told.from_game
            lines.append(LatestLine(told, by_number[told.seq], is_undone=is_undone, can_undo=can_undo))
        else:
            is_open = following is not None and group[-1] is read[-1]  # older changes of the group may follow
            summary = await _summarize(keeper, group, is_open=is_open)
            is_undone = all(each.seq in undone for each in group)
            lines.append(LatestLine(told, (), len(group), summary, build_href(group), group[-1].seq, is_undone))
    return LatestChanges(lines, undone)


def fold(newest: Iterable[HistoryChange]) -> list[list[HistoryChange]]:
    """Group similar changes in a row. Groups that are too small are split into single changes."""
    groups: list[list[HistoryChange]] = []
    for each in newest:
        if groups and _find_key(groups[-1][0]) == _find_key(each):
            groups[-1].append(each)
        else:
            groups.append([each])
    return [
        part for group in groups for part in ([group] if len(group) >= LEAST_FOLDED else [[each] for each in group])
    ]


def _find_key(told: HistoryChange) -> tuple[object, ...]:
    """Return what similar changes have in common. Undos are a group of their own, changes of the whole game single."""
    if not (told.player_id or told.user_id):
        return (told.seq,)
    reason = bulk.find_run(told) or told.reason
    return told.kind, told.actor_id, told.key, told.over_link, reason, told.undoes is not None


def build_href(group: Sequence[HistoryChange]) -> str:
    """Build the address of the list of these changes: of the bulk job, or of the audit log from the newest on."""
    told = group[0]
    if run := bulk.find_run(told):
        return f"/console/bulk/{run}"
    sought = {"kind": told.kind, "actor": told.actor_id or "", "reason": told.reason or "", "before": str(told.seq + 1)}
    return changes.build_address("/console/changes", sought)


async def _summarize(keeper: Keeper, group: Sequence[HistoryChange], *, is_open: bool) -> str:
    told = group[0]
    players = {each.player_id for each in group if each.player_id}
    number = len(players or {each.user_id for each in group})
    more = f"{number}+" if is_open else f"{number}"
    if told.kind in {GIVEN, TAKEN} and players:
        gift = await _describe_gift(keeper, group)
        if gift and told.kind == GIVEN:
            return ngettext("%(gift)s to %(more)s player", "%(gift)s to %(more)s players", number, gift=gift, more=more)
        if gift:
            return ngettext(
                "%(gift)s from %(more)s player", "%(gift)s from %(more)s players", number, gift=gift, more=more
            )
    if players:
        return ngettext("%(more)s player", "%(more)s players", number, more=more)
    return ngettext("%(more)s account", "%(more)s accounts", number, more=more)


async def _describe_gift(keeper: Keeper, group: Sequence[HistoryChange]) -> str:
    """Describe the items that each of the changes gave or took; empty if they are not the same for all."""
    moved = {frozenset(_count_moved(keeper, each).items()) for each in group}
    if len(moved) != 1:
        return ""
    items = dict(moved.pop())
    names = await keeper.store.read(lambda tx: _load_names(tx, items)) if items else {}
    return ", ".join(
        f"{format_number(quantity)} {TIMES_SIGN} {names.get(item) or item}" for item, quantity in sorted(items.items())
    )


async def _load_names(tx: Reading, items: Mapping[str, int]) -> dict[str, str]:
    return {item: entry.name for item, entry in (await catalogue.find_by_ids(tx, "items", list(items))).items()}


def _count_moved(keeper: Keeper, told: HistoryChange) -> dict[str, int]:
    before, after = (
        _count_items(keeper.changes.codec.decode_side(side) if side else ChangeSide())
        for side in (told.before, told.after)
    )
    found = {item: abs(after.get(item, 0) - before.get(item, 0)) for item in {*before, *after}}
    return {item: quantity for item, quantity in found.items() if quantity}


def _count_items(side: ChangeSide) -> dict[str, int]:
    counted: dict[str, int] = {}
    for stack in side.slots.values():
        if stack:
            counted[stack.item_id] = counted.get(stack.item_id, 0) + stack.quantity
    return counted
