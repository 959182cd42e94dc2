"""Lines that a change shows in place of its differences: the text of a note, tags, a player, or a signal.

Lists of changes summarize the creation or deletion of a player in one line instead of every field.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from gamekeeper.console.frame import formats
from gamekeeper.console.frame.differences import NOTHING, Difference
from gamekeeper.console.frame.formats import format_decimal, format_number
from gamekeeper.console.frame.labels import SIGNAL_TITLES
from gamekeeper.console.frame.texts import PerLanguage, cache_texts, gettext, ngettext
from gamekeeper.console.frame.texts import translate as _
from gamekeeper.game.audit.history import HIDDEN_NAME, SIGNAL_KINDS
from gamekeeper.game.insight import signals
from gamekeeper.game.insight.economy_reports import is_command_line
from gamekeeper.game.insight.signals import SignalDetails
from gamekeeper.game.players.changes import PlayerCreated, PlayerDeleted
from gamekeeper.game.world.commands import EXPIRED, NOT_NEEDED, SENT, DeliveryState
from gamekeeper.http.accounts.account_shapes import ShownNoteSide, ShownTagsSide
from gamekeeper.http.audit.codec import PlayerOutline, outline_player
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import signals as rows
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.feed import APPLIED, FAILED, UNKNOWN, WAITING

T = TypeVar("T")
TAGS_SET = "tags_set"


def list_note_lines(told: HistoryChange | LedgerEntry) -> list[Difference]:
    """List the text of a note, or the tags, before and after; nothing if the viewer may not read them."""
    if told.before is None and told.after is None:
        return []
    if told.kind == TAGS_SET:
        tags = (", ".join(_decode_note(side, ShownTagsSide).Tags) or NOTHING for side in (told.before, told.after))
        return [Difference(gettext("Tags"), *tags)]
    before, after = (_decode_note(side, ShownNoteSide) for side in (told.before, told.after))
    label = gettext("Warning") if before.Warning or after.Warning else gettext("Note")
    return [Difference(label, before.Text or NOTHING, after.Text or NOTHING)]


def _decode_note(side: bytes | str | None, shape: type[T]) -> T:
    return msgspec.json.decode(side or b"{}", type=shape)


MOST_COUNTS = 256  # texts such as "12 spells" that are kept: most players have few of each
SUMMARIZED_KINDS = frozenset({PlayerCreated.kind, PlayerDeleted.kind})


def outline_players(changes: Sequence[HistoryChange]) -> dict[int, PlayerOutline]:
    """Outline each created or deleted player among the changes, by the number of the change."""
    return {
        each.seq: outline_player(each.after or each.before or "{}") for each in changes if each.kind in SUMMARIZED_KINDS
    }


async def summarize_players(tx: Reading, players: Mapping[int, PlayerOutline]) -> dict[int, str]:
    """Return a line about each player, by the number of the change that created or deleted it."""
    classes = {each.class_id for each in players.values() if each.class_id}
    named = await catalogue.find_by_ids(tx, "classes", classes) if classes else {}
    names = {class_id: entry.name for class_id, entry in named.items()}
    return {seq: _describe_player(each, names.get(each.class_id) or NOTHING) for seq, each in players.items()}


def _describe_player(player: PlayerOutline, class_name: str) -> str:
    return gettext(
        "%(name)s, level %(level)s, class %(class)s: %(items)s, %(spells)s, %(variables)s",
        **{"name": player.name or NOTHING, "level": player.level, "class": class_name},
        items=_count_stacks(player.stacks),
        spells=_count_spells(player.spells),
        variables=_count_variables(player.variables),
    )


@cache_texts(MOST_COUNTS)
def _count_stacks(count: int) -> str:
    return ngettext("%(num)s item stack", "%(num)s item stacks", count)


@cache_texts(MOST_COUNTS)
def _count_spells(count: int) -> str:
    return ngettext("%(num)s spell", "%(num)s spells", count)


@cache_texts(MOST_COUNTS)
def _count_variables(count: int) -> str:
    return ngettext("%(num)s variable", "%(num)s variables", count)


SIGNAL_STATES = PerLanguage[Mapping[str, str]](
    lambda: {rows.OPEN: gettext("Open"), rows.ACKNOWLEDGED: gettext("Acknowledged")}
)
SIGNAL_SENTENCES = PerLanguage[Mapping[str, str]](
    lambda: {
        rows.SUPPLY: _(
            "There were %(before)s of %(item)s, and an hour later %(after)s: more than %(limit)s times as many."
        ),
        rows.GAIN: _("%(player)s got %(quantity)s of %(item)s within an hour. The limit is %(limit)s."),
        rows.GIFT: _("%(giver)s gave %(quantity)s of %(item)s. The limit is %(limit)s."),
        rows.BAG: _("A game server reports a bag for %(player)s that another player has."),
        rows.CONSERVATION: _(
            "The totals of two days differ by %(quantity)s of %(item)s that no change created or took."
        ),
        rows.REFUSALS: _("%(quantity)s requests were refused in ten minutes. Usual are %(usual)s."),
        rows.SILENT: _("The game server %(server)s has sent nothing since its lease ended."),
    }
)
TAKEN_TOO_MUCH = PerLanguage(lambda: _("A change took more of %(item)s from %(player)s than it had."))
BEYOND_TEXT = PerLanguage(lambda: gettext("This rule found more than is listed one by one."))


class SignalLine(NamedTuple):
    details: SignalDetails
    title: str
    state: str
    text: str


class SignalSide(msgspec.Struct):
    """The part of one side of a change that names its signal. An erasure may have removed fields."""

    SignalId: str = ""
    Rule: str = ""


_decode_signal = msgspec.json.Decoder(SignalSide).decode


async def load_signal_lines(
    tx: Reading, changes: Iterable[HistoryChange], me: str = "", *, accounts: bool
) -> dict[int, SignalLine]:
    """Load the signals that changes are about, by the number of the change. Deleted signals are missing.

    `accounts`: whether the viewer, with the account `me`, may see names of accounts.
    """
    ids = {each.seq: side.SignalId for each in changes if (side := find_signal_side(each)) and side.SignalId}
    if not ids:
        return {}
    found = {each.signal.id: each for each in await signals.find_some(tx, sorted(set(ids.values())))}
    lines = {key: make_signal_line(each if accounts else each.hide_names(me)) for key, each in found.items()}
    return {seq: lines[key] for seq, key in ids.items() if key in lines}


def find_signal_side(told: HistoryChange) -> SignalSide | None:
    """Return what a change says about its signal. None: the change is not about a signal."""
    return _decode_signal(told.after) if told.kind in SIGNAL_KINDS and told.after else None


def make_signal_line(found: SignalDetails) -> SignalLine:
    signal = found.signal
    text = BEYOND_TEXT() if signal.subject == rows.BEYOND else _describe_signal(found)
    return SignalLine(
        found, SIGNAL_TITLES().get(signal.rule, signal.rule), SIGNAL_STATES().get(signal.state, signal.state), text
    )


def _describe_signal(found: SignalDetails) -> str:
    """Say in one sentence what a rule has found."""
    signal, evidence = found.signal, found.evidence
    text = (
        TAKEN_TOO_MUCH()
        if signal.rule == rows.CONSERVATION and signal.player_id
        else SIGNAL_SENTENCES().get(signal.rule, "")
    )
    giver = found.giver.name if found.giver and not is_command_line(found.giver) else None
    if giver == HIDDEN_NAME:
        giver = gettext("An account or API key")
    facts = {
        "item": found.item or gettext("an item that is not in the catalogue"),
        "player": found.player or gettext("a deleted player"),
        "giver": giver or gettext("The command line or a deleted account"),
        "server": signal.subject,
        **{
            name: format_number(getattr(evidence, name) or 0)
            for name in ("quantity", "limit", "before", "after", "usual")
        },
    }
    return text % facts


GAME_SERVER = "%(server)s"  # stays in the translated texts below, for the name of the game server
DELIVERY_STATES = PerLanguage[Mapping[str, str]](
    lambda: {
        WAITING: gettext("waiting for %(server)s", server=GAME_SERVER),
        SENT: gettext("sent to %(server)s", server=GAME_SERVER),
        APPLIED: gettext("applied by %(server)s", server=GAME_SERVER),
        FAILED: gettext("failed on %(server)s", server=GAME_SERVER),
        UNKNOWN: gettext("%(server)s does not know whether it was done", server=GAME_SERVER),
        EXPIRED: gettext("expired before %(server)s confirmed it", server=GAME_SERVER),
        NOT_NEEDED: gettext("not needed by %(server)s any more: the player has left it", server=GAME_SERVER),
    }
)
PENDING = frozenset({WAITING, SENT})  # the game server may still confirm it


def describe_states(states: Iterable[DeliveryState], *, is_short: bool = True) -> list[str]:
    """Describe how far each game server has got. `is_short`: leave out game servers that need not know the change."""
    return [_describe_state(each) for each in states if each.state != NOT_NEEDED or not is_short]


def _describe_state(each: DeliveryState) -> str:
    if each.state == APPLIED and each.seconds is not None:
        return gettext(
            "applied by %(server)s after %(seconds)s s", server=each.server, seconds=format_decimal(each.seconds)
        )
    said = DELIVERY_STATES()[each.state] % {"server": each.server}
    if each.state in {FAILED, UNKNOWN} and each.reason:
        return gettext("%(state)s: %(reason)s", state=said, reason=each.reason)
    return said


formats.FILTERS.update(is_signal=frozenset(SIGNAL_KINDS).__contains__)
