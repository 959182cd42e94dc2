"""The economy: what came into being and ended per item, day and source, and who holds the most.

    audit log ── final changes, in order ──► item_flows, item_gifts   sums, added
    slots     ── sweep over all players ──► holdings                 what each player has as of the same change
                                            item_totals, item_days   sums of holdings

One transaction counts a batch of changes and stores the number of the last one in the same row that it has locked, so
each change is counted once. Holdings follow the same changes. Their first count, and one after a bulk load, is a sweep
over the players: it reads the slots and takes off what later changes, which are not counted yet, have done to them.
No request that changes something waits for any of this. A read first counts the newest changes, up to a limit. Sweeps
and ranked lists are left to the background job, which rests after each step.
"""

import contextlib
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from gamekeeper.game.core.background_jobs import repeat
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.lookup import ZERO_GUID, parse_guid
from gamekeeper.game.insight import flows, signal_watch, signals
from gamekeeper.game.insight.signals import DEFAULTS, Limits
from gamekeeper.game.lists import ranked_lists
from gamekeeper.game.world.feed import BATCH_CHANGES, BATCH_PLAYERS, MAX_AHEAD, READ_STEPS, REST_FACTOR, Feed
from gamekeeper.ground import crash, log
from gamekeeper.ground.settings import BadSetting, variable
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading, Store, Writing
from gamekeeper.store.insight import economy
from gamekeeper.store.insight import holdings as rows
from gamekeeper.store.insight.economy import EconomyState
from gamekeeper.store.insight.holdings import ITEM, VARIABLE, Holding, RankedList
from gamekeeper.store.lists.ranked_buckets import HIGHEST, LOWEST
from gamekeeper.store.world import catalogue

BATCH_HOLDINGS = 500  # a sweep's transaction ends with the player who has this row: a few milliseconds, like changes
MAX_RANKED = 20
KINDS = {ITEM: "items", VARIABLE: "variables"}  # kind of a ranked list → kind of catalogue entries
LAST_GUID = HIGHEST[1]
NOTHING_COUNTED = EconomyState(0, 0, 0, ZERO_GUID, "[]", recount=False)
T = TypeVar("T")
NEGATIVE = "A player would have {} of item {} after change {}. All holdings are counted again."


class RankedName(NamedTuple):
    """An item or a variable that the setting `ranked` names."""

    kind: str
    name: str  # name in the catalogue, or id


def parse_ranked(text: str) -> Sequence[RankedName]:
    """Parse the setting `ranked`, such as `item:Gold, variable:Kills`."""
    found: list[RankedName] = []
    for each in filter(None, (part.strip() for part in text.split(","))):
        kind, _, name = (part.strip() for part in each.partition(":"))
        if kind not in KINDS or not name:
            raise BadSetting(f"{variable('ranked')} has '{each}'; it must be item:NAME or variable:NAME, or an id.")
        found.append(RankedName(kind, name))
    if len(found) > MAX_RANKED:
        raise BadSetting(f"{variable('ranked')} has {len(found)} names; it must have at most {MAX_RANKED}.")
    return found


class Economy:
    def __init__(
        self,
        store: Store,
        codec: Codec,
        changes: Feed,
        ranked: Sequence[RankedName] = (),
        limits: Limits = DEFAULTS,
    ) -> None:
        self._store = store
        self._codec = codec
        self._feed = changes
        self._ranked = ranked
        self._limits = limits  # above which a change raises a signal

    async def follow(self, rest_factor: float = REST_FACTOR) -> None:
        """Count all final changes, holdings and lists, as the background job of a serving process, with pauses.

        Only this job chooses the ranked lists: a command may run without the setting.
        """
        await self._choose_lists()
        if not await self._is_current():
            await self.catch_up(rest_factor=rest_factor)

    async def catch_up(self, upto: int | None = None, rest_factor: float = REST_FACTOR) -> None:
        """Count like the background job, for a command. The ranked lists stay those of the serving processes.

        `upto`: number of the last change to count; default all that are final.
        """
        last = await self._feed.find_final() if upto is None else upto
        await repeat(lambda: self.step(last), rest_factor)

    async def count_changes(self, rest_factor: float = REST_FACTOR) -> None:
        """Count some final changes, without a sweep and without lists."""
        upto = await self._feed.find_final()
        await repeat(lambda: self._count(upto), rest_factor, READ_STEPS)

    async def recount(self) -> None:
        """Start to count holdings, totals and rankings again, with a sweep. Flows and gifts stay."""
        await self._store.write(_start_recount)

    async def read(self, work: Callable[[Reading], Coroutine[Any, Any, T]]) -> T:
        """Count the newest changes, up to a limit, before a read. If that fails, the read shows an earlier state."""
        with contextlib.suppress(DatabaseUnavailable):
            await self.count_changes(0)
        return await self._store.read(work)

    async def step(self, upto: int) -> bool:
        """Count one batch in one transaction. False: everything up to this change is counted, or another does it."""
        return await self._count(upto) or await self._sweep() or await self._build()

    async def _is_current(self) -> bool:
        """Tell whether nothing is left to count; without a transaction that writes."""
        state = await economy.read_state(self._store)
        if state is None or state.swept is not None:
            return False
        if not all(each.built for each in await rows.read_lists(self._store)):
            return False
        return state.seq >= await ledger.read_last(self._store)

    async def _choose_lists(self) -> None:
        """Start the lists that the setting names, and delete those that no instance wanted for an hour."""
        if await economy.read_state(self._store) is None:
            await self._store.write(_begin)
        wanted, now = await _find_ranked(self._store, self._ranked), await clock.now(self._store)
        if ranked_lists.is_chosen(await rows.read_lists(self._store), wanted, now):
            return

        async def choose(tx: Writing) -> None:
            state = await economy.lock_state(tx)
            if state is not None:  # else another instance counts: the next pass chooses
                await ranked_lists.choose_lists(tx, await rows.read_lists(tx), wanted, now)
                await _choose_variables(tx, state, await rows.read_lists(tx))

        await self._store.write(choose)

    async def _count(self, upto: int) -> bool:
        """Count one batch of changes."""
        state = await economy.read_state(self._store)
        if state is None:
            await self._store.write(_begin)
        elif state.seq >= upto:
            return False
        return await self._store.write(lambda tx: self._count_changes(tx, upto))

    async def _build(self) -> bool:
        """Count the next buckets of a ranked list. False: all lists are counted, or a sweep comes first."""
        if all(each.built for each in await rows.read_lists(self._store)):
            return False

        async def build(tx: Writing) -> bool:
            state = await economy.lock_state(tx)
            if state is None or state.swept is not None:
                return False
            return await ranked_lists.build_list(tx, await rows.read_lists(tx))

        return await self._store.write(build)

    async def _count_changes(self, tx: Writing, upto: int) -> bool:
        state = await economy.lock_state(tx)
        if state is None:
            return False
        lists = await rows.read_lists(tx)
        some = flows.cut_at_midnight(await economy.read_changes(tx, state.seq, upto, BATCH_CHANGES))
        if not some:
            return False
        tally = flows.count(some, self._codec, read_variables(state))
        await economy.add_flows(tx, tally.list_flows(), tally.list_gifts())
        crash.crash_at("rollup_flows")
        found = await signal_watch.watch(tx, self._limits, tally.moves, is_complete=state.swept is None)
        # after a bulk load all players are swept again, and until then holdings stay as they are
        wrong = None if tally.has_loads else await self._hold(tx, tally, lists, state.swept, some[-1])
        if wrong and self._limits.conservation:
            found.append(wrong)
        if tally.has_loads or wrong:
            state = await _sweep_again(tx, state)
        await signals.raise_findings(tx, self._codec, found)
        crash.crash_at("rollup_signals")
        crash.crash_at("rollup_holdings")
        await flows.save(tx, self._codec, state, some, tally)
        await economy.set_state(tx, state._replace(seq=some[-1].seq, at=max(state.at, *(each.at for each in some))))
        crash.crash_at("rollup_state")
        return True

    async def _hold(
        self,
        tx: Writing,
        tally: flows.Tally,
        lists: Sequence[RankedList],
        swept: str | None,
        last: economy.CountedChange,
    ) -> signals.Finding | None:
        """Apply changes to the holdings of players who are swept. A finding: the holdings contradict them."""
        gains = {key: gain for key, gain in tally.gains.items() if gain and (swept is None or key.player_id <= swept)}
        wrong = await ranked_lists.add_holdings(tx, gains, lists)
        if wrong:
            log.problem("economy", NEGATIVE.format(wrong.quantity, wrong.key.thing_id, last.seq))
            return signal_watch.make_contradiction(wrong.key, wrong.quantity, last.seq, last.at)
        values = {key: value for key, value in tally.values.items() if swept is None or key.player_id <= swept}
        before = await rows.read_held(tx, values) if values else {}
        await ranked_lists.apply_holdings(tx, {key: (before.get(key), value) for key, value in values.items()}, lists)
        return None

    async def _sweep(self) -> bool:
        """Compare the holdings of the next players with their slots. False: all are swept, or changes wait."""
        seen = await self._store.read(self._read_next_players)
        if seen is None:
            return False
        state, last, actual = seen

        async def save(tx: Writing) -> bool:
            locked = await economy.lock_state(tx)
            if locked is None or state.swept is None or locked != state:
                return locked is not None
            before = await rows.read_held_between(tx, state.swept, last)
            pairs = {key: (before.get(key), actual.get(key)) for key in sorted(before.keys() | actual.keys())}
            await ranked_lists.apply_holdings(tx, pairs, await rows.read_lists(tx), recount=state.recount)
            crash.crash_at("rollup_swept")
            swept = None if last == LAST_GUID else last
            if swept is None:  # from now on the totals are known at the end of each day
                await tx.returning(economy.SQL.save_all_days, flows.find_day(state.at or state.since))
            await economy.set_state(tx, state._replace(swept=swept, recount=state.recount and swept is not None))
            return True

        return await self._store.write(save)

    async def _read_next_players(self, tx: Reading) -> tuple[EconomyState, str, dict[Holding, int]] | None:
        """Read what the next players had as of the last counted change: what they have, without later changes.

        One snapshot has both their slots and all later changes that these include.
        """
        state = await economy.read_state(tx)
        if state is None or state.swept is None:
            return None
        later = await economy.read_changes(tx, state.seq, 2**62, MAX_AHEAD)
        if len(later) == MAX_AHEAD:
            return None
        variables = read_variables(state)
        last = await _find_last_player(tx, state.swept, max(BATCH_PLAYERS // (1 + len(variables)), 1))
        return state, last, await read_actual(tx, self._codec, variables, (state.swept, last), later)


async def read_actual(
    tx: Reading,
    codec: Codec,
    variables: frozenset[str],
    players: tuple[str, str],
    later: Sequence[economy.CountedChange],
) -> dict[Holding, int]:
    """Read what the players after the first of these, to the last, had before the later changes."""
    after, last = players
    found = await rows.sum_slots_between(tx, after, last)
    if variables:
        found |= await rows.read_variables_between(tx, after, last, sorted(variables))
    for change in reversed(later):
        if change.player_id and after < change.player_id <= last:
            for item_id, gain in flows.count_gains(change.before, change.after, codec).items():
                key = Holding(change.player_id, ITEM, item_id)
                found[key] = found.get(key, 0) - gain
            values = flows.read_values_before(change, codec, variables) if variables else {}
            found |= {key: value for key, value in values.items() if value is not None}
            for key in (key for key, value in values.items() if value is None):
                found.pop(key, None)
    return {key: quantity for key, quantity in found.items() if quantity or key.kind == VARIABLE}


async def _start_recount(tx: Writing) -> None:
    """Set all totals to zero: the sweep adds what each player has. Holdings stay, and the sweep corrects them.

    The lock comes first, and waits: a count that is under way in another process must not add to totals afterwards.
    """
    state = await economy.wait_for_lock(tx)
    if state is not None:
        await tx.returning(rows.SQL.reset_lists, *LOWEST)
        await economy.set_state(tx, await _sweep_again(tx, state._replace(recount=True)))


async def _sweep_again(tx: Writing, state: EconomyState) -> EconomyState:
    """Return a state in which no player is swept. In a recount the totals have only swept players: none, then."""
    if state.recount:
        await tx.returning(economy.SQL.clear_totals)
    return state._replace(swept=ZERO_GUID)


async def _begin(tx: Writing) -> None:
    await tx.returning(economy.SQL.begin, ZERO_GUID)


async def _find_last_player(tx: Reading, after: str, most: int) -> str:
    """Return the last player of a sweep's next batch: at most `most` players, and about BATCH_HOLDINGS rows."""
    players = await rows.read_players_after(tx, after, most)
    ends = [players[-1] if len(players) == most else LAST_GUID]
    ends += await rows.find_players_of_row(tx, after, BATCH_HOLDINGS)
    return min(ends)


async def _choose_variables(tx: Writing, state: EconomyState, lists: Iterable[RankedList]) -> None:
    """If other variables are ranked than before, sweep all players again."""
    chosen = sorted(each.thing_id for each in lists if each.kind == VARIABLE)
    if chosen != sorted(read_variables(state)):
        variables = msgspec.json.encode(chosen).decode()
        await economy.set_state(tx, await _sweep_again(tx, state._replace(variables=variables)))


async def _find_ranked(tx: Reading, names: Sequence[RankedName]) -> frozenset[tuple[str, str]]:
    """Return kind and id of the ranked items and variables. Names that the catalogue does not have are left out."""
    found: set[tuple[str, str]] = set()
    for kind, name in names:
        thing_id = parse_guid(name) or await catalogue.find_id_by_name(tx, KINDS[kind], name)
        if thing_id:
            found.add((kind, thing_id))
    return frozenset(found)


def read_variables(state: EconomyState) -> frozenset[str]:
    return frozenset(msgspec.json.decode(state.variables, type=list[str]))
