"""Earlier states of a player: parse times in the URL of its page, compare two states, and word the undo of changes.

The comparison lists added and removed items, by slot and in total. The equipment at an earlier time is read from the
first later change of the equipment.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from gamekeeper.console.frame import differences
from gamekeeper.console.frame.differences import TIMES_SIGN, Difference, Names, Undo, UndoTitle
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.list_page import build_address
from gamekeeper.console.frame.texts import PerLanguage, describe_refusal, gettext, translate_message
from gamekeeper.console.players import items
from gamekeeper.console.players.items import SlotCell, SlotGrid
from gamekeeper.game.audit import history as game_history
from gamekeeper.game.audit.history import Pause, PointInTime
from gamekeeper.game.core.change import ChangeSide, Codec
from gamekeeper.game.core.player import Player, Stack
from gamekeeper.game.core.refusals import BadField, HistoryTooLong, HistoryTrimmed, NotThereThen, Refusal
from gamekeeper.game.players import changes
from gamekeeper.ground.instants import HOUR_MS, format_instant
from gamekeeper.ground.settings import Settings
from gamekeeper.http.audit.history_shapes import ThenQuery
from gamekeeper.http.players.player_shapes import PLAYER_ATTRIBUTES
from gamekeeper.http.server import queries
from gamekeeper.http.server.request import Request
from gamekeeper.store.audit import history
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading

ATTRIBUTE = "equipment"
FIELD = next(name for name, attribute in PLAYER_ATTRIBUTES.items() if attribute == ATTRIBUTE)
WINDOW_ROWS = 500  # changes of the player that one statement reads, which takes a few milliseconds
MOST_WINDOWS = 10  # windows read for one moment; most changes of an active player are reports of its position


class PastEquipment(NamedTuple):
    slots: tuple[int, ...] = ()
    is_known: bool = True


async def load_equipment(
    tx: Reading, player: Player, moment: PointInTime, spelling: Codec, rest: Pause
) -> PastEquipment:
    """Load what the player had equipped. `player` has the present equipment, or that before its deletion."""
    if moment == PointInTime():
        return PastEquipment(player.equipment)
    cursor = await game_history.find_last_kept(tx, player.id, moment)
    for _ in range(MOST_WINDOWS):
        steps = await history.read_record_before(tx, player.id, cursor, FIELD, WINDOW_ROWS)
        for seq, before in steps:
            cursor = seq
            known = spelling.decode_side(before).player.get(ATTRIBUTE) if before else None
            if isinstance(known, tuple):
                return PastEquipment(cast("tuple[int, ...]", known))
        if len(steps) < WINDOW_ROWS:
            return PastEquipment(player.equipment)  # no later change of the equipment: it is still the same
        await rest()
    return PastEquipment(is_known=False)


MINUS = "\u2212"  # the minus sign, as wide as the plus sign


class ItemDifference(NamedTuple):
    """How many of an item the player had at both moments, in all places together."""

    name: str
    before: int
    after: int

    @property
    def change(self) -> str:
        return format_change(self.after - self.before)


class Comparison(NamedTuple):
    pairs: list[tuple[SlotGrid | None, SlotGrid | None]]  # the same place at both moments; None: there was no such bag
    totals: list[ItemDifference]  # items of which there are more or less; a move changes none
    others: list[Difference]  # equipment, spells and variables
    knows_equipment: bool  # whether the equipment of both moments is known


def format_change(number: int) -> str:
    """Write a difference with its sign."""
    return f"+{format_number(number)}" if number > 0 else f"{MINUS}{format_number(-number)}"


def compare(
    states: tuple[ChangeSide, ChangeSide], equipped: Sequence[PastEquipment], names: Names, room: Settings
) -> Comparison:
    before, after = states
    one, other = (items.make_grids(side, names, room, worn.slots) for side, worn in zip(states, equipped, strict=True))
    sides = [{grid.place: grid for grid in made} for made in (one, other)]
    is_known = all(each.is_known for each in equipped)
    worn = differences.compare_equipment(states, [each.slots for each in equipped], names) if is_known else ()
    places = list(dict.fromkeys([*sides[0], *sides[1]]))
    return Comparison(
        [_mark(sides[0].get(place), sides[1].get(place)) for place in places],
        _count(before, after, names),
        [*worn, *_list_spells(before, after, names), *_list_variables(before, after, names)],
        is_known,
    )


def _mark(before: SlotGrid | None, after: SlotGrid | None) -> tuple[SlotGrid | None, SlotGrid | None]:
    """Mark the slots of both grids in which items came or went."""
    was = {cell.slot: cell for cell in before.cells} if before else {}
    now = {cell.slot: cell for cell in after.cells} if after else {}
    return (
        before and before._replace(cells=_mark_cells(before.cells, now, went=True)),
        after and after._replace(cells=_mark_cells(after.cells, was, went=False)),
    )


def _mark_cells(cells: Iterable[SlotCell], others: Mapping[int, SlotCell], *, went: bool) -> list[SlotCell]:
    found: list[SlotCell] = []
    for cell in cells:
        more = _count_more(cell.stack, others[cell.slot].stack if cell.slot in others else None)
        found.append(cell._replace(change=format_change(-more if went else more), went=went) if more > 0 else cell)
    return found


def _count_more(stack: Stack | None, other: Stack | None) -> int:
    """Return how many items a slot holds that the other moment does not have there."""
    if stack is None:
        return 0
    same = other is not None and other._replace(quantity=1) == stack._replace(quantity=1)
    return stack.quantity - (other.quantity if same and other else 0)


def _count(before: ChangeSide, after: ChangeSide, names: Names) -> list[ItemDifference]:
    sums = [differences.count_items(side) for side in (before, after)]
    changed = [each for each in {*sums[0], *sums[1]} if sums[0][each] != sums[1][each]]
    return sorted(ItemDifference(names.find_name("items", each), sums[0][each], sums[1][each]) for each in changed)


def _list_spells(before: ChangeSide, after: ChangeSide, names: Names) -> Iterable[Difference]:
    known = [{spell for spell in side.spells.values() if spell} for side in (before, after)]
    for spell in sorted(known[0] ^ known[1], key=lambda each: names.find_name("spells", each)):
        said = [gettext("known") if spell in side else differences.NOTHING for side in known]
        yield Difference(names.find_name("spells", spell), *said)


def _list_variables(before: ChangeSide, after: ChangeSide, names: Names) -> Iterable[Difference]:
    for each in sorted({*before.variables, *after.variables}, key=lambda each: names.find_name("variables", each)):
        values = [side.variables.get(each) for side in (before, after)]
        if values[0] != values[1] or type(values[0]) is not type(values[1]):
            yield Difference(names.find_name("variables", each), *map(differences.describe_value, values))


NOW = "now"  # in the address, instead of a moment: the present
UNTIL = "until"  # in the address, with the number before it as the moment: the change that has not yet happened then
AGO = PerLanguage(
    lambda: {
        gettext("an hour ago"): HOUR_MS,
        gettext("a day ago"): 24 * HOUR_MS,
        gettext("a week ago"): 7 * 24 * HOUR_MS,
    }
)
REFUSALS = (BadField, HistoryTooLong, HistoryTrimmed, NotThereThen)
BAD_MOMENT = BadField.template().format(field="at", problem="").rstrip(".")  # start of the message


class Moments(NamedTuple):
    moment: PointInTime = PointInTime()
    against: PointInTime | None = None  # the moment to compare with; None: there is no comparison

    @property
    def is_past(self) -> bool:
        return self != PRESENT


PRESENT = Moments()


class MomentProblem(NamedTuple):
    """Why the page shows the present instead of the moment of the address."""

    text: str
    first: HistoryChange | None  # the first known change of the player, after which its state can be shown


def read_moments(request: Request) -> Moments:
    against = _read_moment(request, "against") if request.query.get("against") else None
    return Moments(_read_moment(request, "at"), against)


def _read_moment(request: Request, name: str) -> PointInTime:
    text = request.query.get(name, "")
    return queries.decode(ThenQuery, {} if text == NOW else {"at": text}).at


def read_until(request: Request, moment: PointInTime) -> int | None:
    """Return the change right after the moment, if the reader came by a link to the state before that change.

    "Before change 512" and "after change 511" are the same state, and the page names it like the link.
    """
    following = moment.seq + 1 if moment.seq is not None else None
    return following if request.query.get(UNTIL) == str(following) else None


async def explain_moment(tx: Reading, refusal: Refusal, player: Player) -> MomentProblem:
    """Explain in the words of the page why a moment cannot be shown. Malformed ones need no first change."""
    if isinstance(refusal, BadField):
        problem = translate_message(refusal.message.removeprefix(BAD_MOMENT).removesuffix("."))
        return MomentProblem(gettext("The moment %(problem)s", problem=f"{problem}."), None)
    seq = await history.find_following(tx, player.id, 0, ())
    first = await history.find_change(tx, seq) if seq is not None else None
    if first and first.kind == changes.PlayerDeleted.kind:
        first = None
    if isinstance(refusal, NotThereThen):
        return MomentProblem(gettext("Nothing is known of %(name)s at that time.", name=player.name), first)
    return MomentProblem(describe_refusal(refusal), first if isinstance(refusal, HistoryTrimmed) else None)


async def list_links(request: Request, home: str, tab: str) -> list[tuple[str, str, str]]:
    """List usual moments with the addresses of the state then, and of its comparison with the present.

    They have the time itself, so that they show the same state when opened again.
    """
    now = await clock.now(request.services.keeper.store)
    times = {title: {"tab": tab, "at": format_instant(now - ago)} for title, ago in AGO().items()}
    return [(title, build_address(home, at), build_address(home, at, against=NOW)) for title, at in times.items()]


def _restore_items(undo: Undo) -> str:
    moved = {item: count for item, count in differences.count_items(undo.after, undo.before).items() if count}
    if len(moved) != 1:
        return gettext("Undo: restore the items of %(name)s", name=undo.name)
    [(item, count)] = moved.items()
    given = f"{format_number(abs(count))} {TIMES_SIGN} {undo.names.find_name('items', item)}"
    if count > 0:
        return gettext("Undo: give back %(items)s to %(name)s", items=given, name=undo.name)
    return gettext("Undo: take back %(items)s from %(name)s", items=given, name=undo.name)


def _restore_spells(undo: Undo) -> str:
    known, wanted = ({each for each in side.spells.values() if each} for side in (undo.before, undo.after))
    gained, lost = wanted - known, known - wanted
    if len(gained) + len(lost) != 1:
        return gettext("Undo: restore the spells of %(name)s", name=undo.name)
    spell = undo.names.find_name("spells", *(gained or lost))
    if gained:
        return gettext("Undo: teach %(spell)s to %(name)s again", spell=spell, name=undo.name)
    return gettext("Undo: remove %(spell)s from %(name)s", spell=spell, name=undo.name)


def _restore_variables(undo: Undo) -> str:
    if len(undo.after.variables) != 1:
        return gettext("Undo: restore the variables of %(name)s", name=undo.name)
    [(each, value)] = undo.after.variables.items()
    facts = {"name": undo.name, "variable": undo.names.find_name("variables", each)}
    if value is None:
        return gettext("Undo: clear %(variable)s of %(name)s", **facts)
    shown = differences.describe_value(value)
    return gettext("Undo: set %(variable)s of %(name)s back to %(value)s", value=shown, **facts)


def _restore_values(undo: Undo) -> str:
    before, after, name = undo.before.player, undo.after.player, undo.name
    wanted = {field: value for field, value in after.items() if before.get(field) != value}
    if wanted.keys() == {"name"}:
        return gettext("Undo: rename %(name)s back to %(former)s", name=name, former=wanted["name"])
    if "level" in wanted and wanted.keys() <= {"level", "exp"}:
        return gettext("Undo: set %(name)s back to level %(level)s", name=name, level=wanted["level"])
    if wanted.keys() == {"class_id"}:
        former = undo.names.find_name("classes", str(wanted["class_id"]))
        return gettext("Undo: set the class of %(name)s back to %(former)s", name=name, former=former)
    return gettext("Undo: restore the values of %(name)s", name=name)


UNDO_TITLES = (
    *(UndoTitle(each, _restore_items) for each in changes.ITEM_KINDS),
    *(UndoTitle(each, _restore_spells) for each in changes.SPELL_KINDS),
    UndoTitle(changes.VariablesSet.kind, _restore_variables),
    UndoTitle(changes.PlayerChanged.kind, _restore_values),
    UndoTitle(changes.PlayerCreated.kind, "Undo: restore %(name)s"),
    UndoTitle(changes.PlayerDeleted.kind, "Undo: delete %(name)s with everything it owns"),
)
