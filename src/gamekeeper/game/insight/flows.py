"""What changes of the audit log mean for the economy: flows of items by source, gifts, and what each player has.

A flow is the difference of an item within one change. So a move between slots is none; a trade that a game reports is
two changes, and counts as destroyed with one player and created with the other.

Totals of items at the ends of UTC days are correct also when changes are not counted in the order of their times. On
PostgreSQL a change has the time at which its transaction began. So after midnight a change of the day before may have a
higher number than the first changes of the new day. It belongs to the day of its own time: the totals at the end of
both days are corrected.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from gamekeeper.game.core.change import ChangeSide, Codec, find_job_id
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.players.changes import PlayerDeleted, PlayersLoaded
from gamekeeper.ground.instants import DAY_MS
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import as_column, as_table
from gamekeeper.store.insight import activity, economy, holdings
from gamekeeper.store.insight.economy import CountedChange, EconomyState, Flow, GiftFlow, ItemDay, ItemStep
from gamekeeper.store.insight.holdings import ITEM, VARIABLE, Holding

GAME, KEY, STAFF, UNDO, IMPORT = "game", "key", "staff", "undo", "import"
SOURCES = (GAME, KEY, STAFF, UNDO, IMPORT)


class Move(NamedTuple):
    """What one change adds to or, if negative, takes from an item."""

    seq: int
    at: int
    kind: str
    source: str
    player_id: str | None
    giver_id: str | None  # account or API key; None: the command line, or the source is neither staff nor a key
    item_id: str
    gain: int
    job_id: str | None  # the bulk job that the change belongs to


class Tally(Struct):
    """The sums of a batch of changes."""

    # item, day and source → created and destroyed
    flows: dict[tuple[str, int, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    # day, giver, item and source → given and taken
    gifts: dict[tuple[int, str, str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    gains: Counter[Holding] = field(default_factory=Counter[Holding])  # items that players got or, if negative, lost
    values: dict[Holding, int | None] = field(default_factory=dict[Holding, int | None])  # new values of variables
    moves: list[Move] = field(default_factory=list[Move])  # in the order of the changes
    has_loads: bool = False  # there is a bulk load: it does not say which player has what

    def list_flows(self) -> list[Flow]:
        return [Flow(*key, created, destroyed) for key, (created, destroyed) in sorted(self.flows.items())]

    def list_gifts(self) -> list[GiftFlow]:
        return [GiftFlow(*key, given, taken) for key, (given, taken) in sorted(self.gifts.items())]


def find_source(change: CountedChange) -> str:
    """Return where a change comes from. An undo counts as such, by any caller."""
    if change.undoes is not None:
        return UNDO
    if change.over_link:
        return GAME
    if change.kind == PlayersLoaded.kind:
        return IMPORT
    return KEY if change.is_key else STAFF


def find_day(at: int) -> int:
    """Return the UTC day of a time in ms, as days since 1970."""
    return at // DAY_MS


def cut_at_midnight(changes: Sequence[CountedChange]) -> Sequence[CountedChange]:
    """Return the first changes that are of one UTC day: the totals at the end of each day are stored."""
    for place, change in enumerate(changes):
        if find_day(change.at) != find_day(changes[0].at):
            return changes[:place]
    return changes


def count(changes: Iterable[CountedChange], codec: Codec, variables: frozenset[str]) -> Tally:
    """Add up changes: the flows of their items, and the new values of these variables."""
    tally = Tally()
    for change in changes:
        if change.before is None and change.after is None:
            continue
        _count_items(tally, change, codec)
        if variables and change.player_id:
            tally.values.update(read_values(change, codec, variables))
    return tally


def read_values(change: CountedChange, codec: Codec, variables: frozenset[str]) -> dict[Holding, int | None]:
    """Return the values that a change gives to these variables of its player; None: the variable has no value."""
    if not change.player_id:
        return {}
    before, after = (codec.decode_side(side) if side else ChangeSide() for side in (change.before, change.after))
    found: dict[str, int | bool | None] = {**dict.fromkeys(before.variables), **after.variables}
    return {
        Holding(change.player_id, VARIABLE, each): None if value is None else int(value)
        for each, value in found.items()
        if each in variables
    }


def count_gains(before: bytes | str | None, after: bytes | str | None, codec: Codec) -> dict[str, int]:
    """Return how much of each item a change with these sides adds or, if negative, removes."""
    found = dict(codec.count_items(after))
    for item_id, quantity in codec.count_items(before).items():
        found[item_id] = found.get(item_id, 0) - quantity
    return found


def _count_items(tally: Tally, change: CountedChange, codec: Codec) -> None:
    seq, at, kind, actor_id, token_id, _, _, player_id, before, after, _, request_id = change
    day, source = at // DAY_MS, find_source(change)
    is_given = source in (KEY, STAFF)
    giver = (token_id if source == KEY else actor_id) if is_given else None
    if kind == PlayersLoaded.kind:
        tally.has_loads = True
    for item_id, gain in count_gains(before, after, codec).items():
        if gain == 0:
            continue
        tally.flows[item_id, day, source][gain < 0] += abs(gain)
        if is_given and kind != PlayerDeleted.kind:  # a deletion of a player is no gift, nor its opposite
            tally.gifts[day, giver or ZERO_GUID, item_id, source][gain < 0] += abs(gain)
        if player_id:
            tally.gains[Holding(player_id, ITEM, item_id)] += gain
        job_id = find_job_id(request_id)
        tally.moves.append(Move(seq, at, kind, source, player_id, giver, item_id, gain, job_id))


# checkpoint: the newest day of which a change was counted, and the number of its first counted change
NEWEST_DAY = "economy_day"
MOST_LATER = 500  # changes of the newest day that are read for a batch of the day before


async def correct(tx: Writing, corrections: Iterable[tuple[str, ItemDay, ItemDay]]) -> int:
    """Correct totals of items at the ends of days: for each item the stored numbers and the right ones.

    Totals that changed since they were read stay as they are. Return how many were corrected. The lock comes first:
    a server may count meanwhile.
    """
    await economy.wait_for_lock(tx)
    rows = [
        {"item_id": item_id, "read_quantity": read.quantity, "read_holders": read.holders} | right._asdict()
        for item_id, read, right in corrections
    ]
    return len(await tx.returning(economy.SQL.correct_days, as_table(rows)))


async def save(tx: Writing, codec: Codec, state: EconomyState, changes: Sequence[CountedChange], tally: Tally) -> None:
    """Store the totals after a batch of changes of one day. `state` is that before the batch.

    Where the holders at the end of a day cannot be known, the day's totals are deleted. Reports then find the quantity
    by the flows, and the number of holders is unknown.
    """
    day, newest = find_day(changes[0].at), find_day(state.at)
    if day > newest:
        await tx.returning(activity.SQL.save, NEWEST_DAY, day, changes[0].seq)
    items = sorted({key[0] for key in tally.flows})
    if not items:
        return
    if state.swept is not None:  # totals are not known: those of the day are stored when the sweep ends
        await economy.delete_days(tx, items, day, NEVER)
    elif day >= newest:
        await economy.save_days(tx, day, items)
    else:
        steps = await _count_late(tx, codec, state, tally, day) if day == newest - 1 else None
        if steps is None:
            await economy.delete_days(tx, items, day, newest)
        else:
            await tx.returning(economy.SQL.add_to_day, day, as_table(steps))
        await economy.save_days(tx, newest, items)


async def _count_late(tx: Reading, codec: Codec, state: EconomyState, tally: Tally, day: int) -> list[ItemStep] | None:
    """Return by how much late changes change the totals of items at the end of the day before the newest one.

    Some players may have changes of the newest day that were counted already. None: they are too many to read, or it
    is not known where they begin.
    """
    newest = await activity.find_checkpoint(tx, NEWEST_DAY)
    gains = {key: gain for key, gain in tally.gains.items() if gain}
    players = sorted({key.player_id for key in gains})
    if newest.position != day + 1:
        return None
    given = as_column("id", players), newest.value, state.seq, MOST_LATER
    later = await tx.rows(CountedChange, economy.SQL.changes_of, *given)
    if len(later) == MOST_LATER:
        return None
    held = Counter(await holdings.read_held(tx, gains) if gains else {})
    for change in later:
        if find_day(change.at) > day:
            for item_id, gain in count_gains(change.before, change.after, codec).items():
                held[Holding(change.player_id or "", ITEM, item_id)] -= gain
    quantities, holders = Counter[str](), Counter[str]()
    for key, gain in gains.items():
        quantities[key.thing_id] += gain
        holders[key.thing_id] += (held[key] > 0) - (held[key] - gain > 0)
    return [ItemStep(item_id, quantities[item_id], holders[item_id]) for item_id in quantities]
