"""Title and button of the dialog that undoes a change: the button names what the undo does, and to whom."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.console import differences
from gamekeeper.console.differences import TIMES_SIGN, Names
from gamekeeper.console.formats import format_number
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.console.texts import translate as _
from gamekeeper.game.account_effects import (
    EmailChanged,
    PowersChanged,
    RolesChanged,
    UserBanned,
    UserMuted,
    UserRenamed,
    UserResumed,
    UserSuspended,
    UserUnbanned,
    UserUnmuted,
)
from gamekeeper.game.codec import ChangeSide
from gamekeeper.game.player_effects import PlayerChanged, PlayerCreated, PlayerDeleted, VariablesSet
from gamekeeper.game.world_effects import GuildVariablesSet, ServerVariablesSet
from gamekeeper.http.request import Request
from gamekeeper.store import players, users
from gamekeeper.store.ledger import LedgerEntry

SERVER_NAMES = PerLanguage(
    lambda: {
        ServerVariablesSet.kind: gettext("the server"),
        GuildVariablesSet.kind: gettext("a guild"),
    }
)  # kinds of changes that are about no player or account


class Undo(NamedTuple):
    """The change that an undo makes, and the name of the player or account that it is about."""

    before: ChangeSide
    after: ChangeSide
    names: Names
    name: str


async def describe(request: Request, seq: int, entries: Sequence[LedgerEntry]) -> tuple[str, str]:
    """Return title and button for the undo of change `seq`; `entries` are the changes that the undo makes."""
    read, store = request.services.keeper.changes.codec.decode_side, request.services.keeper.store
    first = entries[0]
    before, after = read(first.before or "{}"), read(first.after or "{}")
    name = SERVER_NAMES().get(first.kind) or await _find_name(request, first)
    name = name or str((before.player or after.player).get("name", ""))
    undo = Undo(before, after, await differences.load_names(store, [before, after]), name)
    title = gettext("Undo change %(seq)s of %(name)s", seq=seq, name=name)
    return title, BUTTONS().get(first.kind, _restore_values)(undo)


async def _find_name(request: Request, entry: LedgerEntry) -> str:
    """Return the name of the player or account; a player that the undo restores is not in the database yet."""
    store = request.services.keeper.store
    if entry.player_id:
        return next((each.name for each in await players.read_summaries(store, {entry.player_id})), "")
    return next((each.name for each in await users.read_by_ids(store, {entry.user_id or ""})), "")


def _restore_items(undo: Undo) -> str:
    gained = _count_items(undo.after)
    gained.subtract(_count_items(undo.before))
    moved = {item: count for item, count in gained.items() if count}
    if len(moved) != 1:
        return gettext("Undo: restore the items of %(name)s", name=undo.name)
    [(item, count)] = moved.items()
    text = _("Undo: give back %(items)s to %(name)s") if count > 0 else _("Undo: take back %(items)s from %(name)s")
    return text % {
        "items": f"{format_number(abs(count))} {TIMES_SIGN} {undo.names.find_name('items', item)}",
        "name": undo.name,
    }


def _count_items(side: ChangeSide) -> Counter[str]:
    counts: Counter[str] = Counter()
    for stack in side.slots.values():
        if stack:
            counts[stack.item_id] += stack.quantity
    return counts


def _restore_spells(undo: Undo) -> str:
    known, wanted = ({each for each in side.spells.values() if each} for side in (undo.before, undo.after))
    gained, lost = wanted - known, known - wanted
    if len(gained) + len(lost) != 1:
        return gettext("Undo: restore the spells of %(name)s", name=undo.name)
    text = _("Undo: teach %(spell)s to %(name)s again") if gained else _("Undo: remove %(spell)s from %(name)s")
    return text % {"spell": undo.names.find_name("spells", *(gained or lost)), "name": undo.name}


def _restore_variables(undo: Undo) -> str:
    if len(undo.after.variables) != 1:
        return gettext("Undo: restore the variables of %(name)s", name=undo.name)
    [(each, value)] = undo.after.variables.items()
    is_cleared = value is None
    text = (
        _("Undo: clear %(variable)s of %(name)s")
        if is_cleared
        else _("Undo: set %(variable)s of %(name)s back to %(value)s")
    )
    facts = {"variable": undo.names.find_name("variables", each), "value": differences.describe_value(value)}
    return text % {**facts, "name": undo.name}


def _restore_server_variables(undo: Undo) -> str:
    [each, *others] = undo.after.server_variables
    if others:
        return gettext("Undo: restore the variables of the server")
    facts = {"variable": undo.names.find_name("servervariables", each)}
    if undo.after.server_variables[each] is None:
        return gettext("Undo: clear %(variable)s of the server", **facts)
    return gettext("Undo: set %(variable)s of the server back to its former value", **facts)


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


def _fill(text: str) -> Callable[[Undo], str]:
    """Return a function that fills the name of the undo's player or account, and an account's old data, into `text`."""
    return lambda undo: text % {"name": undo.name, **{f"former_{key}": value for key, value in undo.after.user.items()}}


BUTTONS = PerLanguage[Mapping[str, Callable[[Undo], str]]](
    lambda: {  # text of the button, by the kind of change that the undo makes
        "items_given": _restore_items,
        "items_taken": _restore_items,
        "items_set": _restore_items,
        "spell_taught": _restore_spells,
        "spell_forgotten": _restore_spells,
        "spells_set": _restore_spells,
        VariablesSet.kind: _restore_variables,
        ServerVariablesSet.kind: _restore_server_variables,
        GuildVariablesSet.kind: lambda _: gettext("Undo: restore the variables of a guild"),
        PlayerChanged.kind: _restore_values,
        PlayerCreated.kind: _fill(_("Undo: restore %(name)s")),
        PlayerDeleted.kind: _fill(_("Undo: delete %(name)s with everything it owns")),
        UserBanned.kind: _fill(_("Undo: ban %(name)s again")),
        UserUnbanned.kind: _fill(_("Undo: end the ban of %(name)s")),
        UserSuspended.kind: _fill(_("Undo: suspend %(name)s again")),
        UserResumed.kind: _fill(_("Undo: end the suspension of %(name)s")),
        UserMuted.kind: _fill(_("Undo: mute %(name)s again")),
        UserUnmuted.kind: _fill(_("Undo: end the mute of %(name)s")),
        UserRenamed.kind: _fill(_("Undo: rename %(name)s back to %(former_name)s")),
        EmailChanged.kind: _fill(_("Undo: change the email of %(name)s back to %(former_email)s")),
        PowersChanged.kind: _fill(_("Undo: restore the permissions of %(name)s")),
        RolesChanged.kind: _fill(_("Undo: restore the roles of %(name)s")),
    }
)
