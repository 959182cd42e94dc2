"""The page of one player, in tabs: items, history, variables and spells, account.

It also shows earlier states and deleted players. Each tab is an address of its own, and loads only what it shows.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gamekeeper.console.access import roles
from gamekeeper.console.frame import differences, formats, pages
from gamekeeper.console.frame.differences import Names
from gamekeeper.console.frame.labels import EQUIPMENT_WORDS, PARTS, name_rank
from gamekeeper.console.frame.list_page import build_address
from gamekeeper.console.frame.menu import CHANGES, NOTES, PLAYERS
from gamekeeper.console.frame.routes import Dialog, ShownSubject, load_parts, page_route, show_parts
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.console.players import items, live, time_travel
from gamekeeper.console.players.time_travel import Moments, PastEquipment
from gamekeeper.game.audit import history
from gamekeeper.game.audit.history import PointInTime
from gamekeeper.game.audit.timeline import Subjects
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import ChangeSide, Codec
from gamekeeper.game.core.player import Player, make_player
from gamekeeper.game.core.refusals import NoSuchPlayer, Refusal
from gamekeeper.game.core.values import BOOLEAN, INTEGER
from gamekeeper.game.lists.ordered_lists import Ranking
from gamekeeper.game.players import variables
from gamekeeper.game.players.changes import PlayerDeleted
from gamekeeper.game.players.player_edits import find_fit
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import moderation, users
from gamekeeper.store.accounts.moderation import Penalty
from gamekeeper.store.accounts.users import User
from gamekeeper.store.audit.history import OF_PLAYER, HistoryChange, HistoryFilter
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import presence
from gamekeeper.store.players import variables as variable_rows
from gamekeeper.store.players.players import StoredPlayer
from gamekeeper.store.world import catalogue, guilds
from gamekeeper.store.world.guilds import Guild, GuildMember

NEIGHBOURS = 3  # players shown above and below this one in the ranking
MAX_CHOICES = 1_000  # entries in each select list, of classes and of variables
ERASED_NAME = "(erased)"
INVENTORY_TAB, HISTORY_TAB, VARIABLES_TAB, ACCOUNT_TAB = "inventory", "history", "variables", "account"
NOTES_TAB = "notes"
TABS = PerLanguage(
    lambda: {
        INVENTORY_TAB: gettext("Inventory"),
        HISTORY_TAB: gettext("History"),
        VARIABLES_TAB: gettext("Variables and spells"),
        ACCOUNT_TAB: gettext("Details and account"),
        NOTES_TAB: gettext("Notes"),
    }
)
MARKS = 30  # newest changes of the player that the slider of moments has marks for
PAST_TABS = (INVENTORY_TAB, HISTORY_TAB, VARIABLES_TAB)  # an earlier state has items, spells and variables only
ShownVariable = tuple[str, str, variables.AnyValue]  # id, name, value


class PlayerView(NamedTuple):
    """The data of a player's page, read from one consistent snapshot of the database."""

    player: Player
    record: StoredPlayer | None  # the player's row in the database; None: the player is deleted
    subject: ShownSubject
    holdings: ChangeSide
    names: Names
    owner: User | None
    ban: Penalty | None
    mute: Penalty | None
    viewer: User | None
    server: str | None
    membership: GuildMember | None  # None: no guild, or the viewer looks at an earlier state or a deleted player
    guild: Guild | None
    classes: list[catalogue.CatalogueEntry]
    variables: list[catalogue.CatalogueEntry]  # those that can be set
    texts: list[ShownVariable]  # the player's variables that hold text or decimals
    marks: list[HistoryChange]  # oldest first, at which the slider of moments can stop
    against: ChangeSide | None  # the moment to compare with; None: there is no comparison
    equipped: list[PastEquipment]  # at the moment, and at the one to compare with
    parts: Mapping[str, object]  # what other rooms loaded for the page
    version: str  # of what the page shows, to follow it


async def show(request: Request) -> Response:
    """Show the player. If its moment cannot be shown, show the present, and why."""
    try:
        moments = time_travel.read_moments(request)
        return await _show_at(request, moments)
    except time_travel.REFUSALS as refusal:  # if another field of the address is wrong, the present is refused too
        return await _show_at(request, time_travel.PRESENT, refusal)


async def _show_at(request: Request, moments: Moments, refusal: Refusal | None = None) -> Response:
    (moment, against), then = moments, moments.is_past
    if then:
        request.caller.require(CHANGES)
    tab = _choose_tab(request, then=then)
    sight = await request.read_in_pieces(lambda tx, rest: _load_view(tx, request, moments, tab, rest))
    player, keeper = sight.player, request.services.keeper
    standing = None if then or sight.record is None else await keeper.lists.find_rank(player.id, NEIGHBOURS)
    home = f"/console/players/{player.id}"
    here = {"tab": "" if tab == INVENTORY_TAB else tab}
    here |= {name: request.query.get(name, "") if then else "" for name in ("at", "against")}
    until = time_travel.read_until(request, moment)
    here[time_travel.UNTIL] = str(until or "")
    sees_past = request.caller.permissions >= CHANGES
    found = items.make_grids(sight.holdings, sight.names, keeper.settings, sight.equipped[0].slots)
    slot = items.find_slot(found, request.query.get("slot", ""))
    held = slot.cell.stack if slot else None
    return pages.render(
        request,
        "players/player.html",
        refusal,
        sight=sight,
        player=player,
        record=sight.record,
        home=home,
        here=build_address(home, here),
        here_at=here["at"],
        tab=tab,
        tabs=_list_tabs(request, home, here if then else {}),
        against=against,
        compared=time_travel.compare((sight.holdings, sight.against), sight.equipped, sight.names, keeper.settings)
        if sight.against is not None
        else None,
        knows_equipment=all(each.is_known for each in sight.equipped),
        marks=sight.marks,
        here_against=here["against"],
        now=time_travel.NOW,
        ago=await time_travel.list_links(request, home, here["tab"]) if sees_past else [],
        problem=await time_travel.explain_moment(keeper.store, refusal, player) if refusal else None,
        operations=f"/api/v1/players/{player.id}",
        moment=moment if then else None,
        until=until,
        live=sight.record is not None and not then,
        standing=standing,
        neighbours=_list_neighbours(standing, keeper.changes.codec) if standing and tab == ACCOUNT_TAB else [],
        grids=found,
        slot=slot,
        equipment_places=EQUIPMENT_WORDS(),
        slot_fit=await find_fit(keeper.store, held.item_id) if held else None,
        stats=list(zip(PARTS()["base_stats"], player.base_stats, player.stat_point_allocations, strict=False)),
        variables=_sort_variables(sight.holdings.variables, sight.names, sight.texts),
        acts=roles.find_allowed_acts(request, sight.viewer, sight.owner),
        durations=formats.DURATIONS(),
        name_rank=name_rank,
        max_level=keeper.settings.max_level,
        chat_characters=keeper.settings.chat_characters,
        **await show_parts(request, sight.subject._replace(address=home, query=here), sight.parts),
    )


def _choose_tab(request: Request, *, then: bool) -> str:
    """Return the tab of the request. An address with a page of the history but without a tab is that of the history."""
    allowed = [each for each in (PAST_TABS if then else TABS()) if _can_see(request, each)]
    default = HISTORY_TAB if "before" in request.query and HISTORY_TAB in allowed else INVENTORY_TAB
    wanted = request.query.get("tab", "")
    return wanted if wanted in allowed else default


def _can_see(request: Request, tab: str) -> bool:
    rights = request.caller.permissions
    if tab == NOTES_TAB:
        return rights >= NOTES
    return tab != HISTORY_TAB or rights >= CHANGES or "logs.read" in rights


def _name_tab(request: Request, tab: str) -> str:
    if tab == HISTORY_TAB and not request.caller.permissions >= CHANGES:
        return gettext("Activity")  # the viewer may read the game's logs, but not the audit log
    return TABS()[tab]


def _list_tabs(request: Request, home: str, moments: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """List name, title and address of each tab."""
    return [
        (each, _name_tab(request, each), build_address(home, {**moments, "tab": "" if each == INVENTORY_TAB else each}))
        for each in (PAST_TABS if moments else TABS())
        if _can_see(request, each)
    ]


async def _load_view(tx: Reading, request: Request, moments: Moments, tab: str, rest: history.Pause) -> PlayerView:
    moment, against = moments
    spelling = request.services.keeper.changes.codec
    accounts = "users.query" in request.caller.permissions
    seen = HistoryFilter(within=OF_PLAYER, accounts=accounts, me=request.caller.account_id)
    player, record, deletion = await _find_player(
        tx, request.params[0], spelling, seen if request.caller.permissions >= CHANGES else None
    )
    if deletion and moment == PointInTime():
        held = spelling.decode_side(deletion.before or b"{}")  # the player's items and data before its deletion
    else:
        _, world = await history.load_state_at(tx, player.id, moment, spelling, rest)
        held = world.make_side(player)
    wanted, then = seen._replace(whose=player.id), moments.is_past
    other = None
    if against is not None:
        other = (await history.load_state_at(tx, player.id, against, spelling, rest))[1].make_side(player)
    worn_at = [moment, *([against] if against is not None else [])]
    shows_items = tab == INVENTORY_TAB or against is not None
    travels = tab in {INVENTORY_TAB, VARIABLES_TAB} and request.caller.permissions >= CHANGES
    steps = (await history.load_page(tx, wanted, None, MARKS)).changes if travels else []
    membership = None if then else (await guilds.read_memberships(tx, [player.id])).get(player.id)
    settable = await catalogue.read_page(tx, "variables", MAX_CHOICES, 0) if tab == VARIABLES_TAB else []
    texts = tab == VARIABLES_TAB and not then and record is not None
    owner = await users.find_by_id(tx, player.user_id)
    subjects = Subjects(player.id, owner.id if owner else None)
    subject = ShownSubject(subjects, has_history=tab == HISTORY_TAB, is_past=then, deletion=deletion)
    names = await differences.load_names(tx, [held, *([other] if other else [])])
    return PlayerView(
        player=player,
        record=record,
        subject=subject,
        holdings=held,
        names=names._replace(pictures=await catalogue.find_picture_hashes(tx, names.known["items"])),
        owner=owner,
        ban=await moderation.find_ban(tx, owner.id) if owner and owner.ban_reason is not None else None,
        mute=await moderation.find_mute(tx, owner.id) if owner and owner.mute_reason is not None else None,
        viewer=await users.find_by_id(tx, request.caller.account_id),
        server=await presence.find_server_of(tx, player.id),
        membership=membership,
        guild=await guilds.find(tx, membership.guild_id) if membership else None,
        classes=await catalogue.read_page(tx, "classes", MAX_CHOICES, 0),
        variables=[
            each
            for each in settable
            if isinstance(each, catalogue.CatalogueVariable) and each.type in {BOOLEAN, INTEGER}
        ],
        texts=await _load_texts(tx, player.id) if texts else [],
        marks=steps[::-1],
        against=other,
        equipped=[
            await time_travel.load_equipment(tx, player, each, spelling, rest) if shows_items else PastEquipment()
            for each in worn_at
        ],
        parts=await load_parts(tx, request, subject),
        version=(await live.load_version(tx, request, player.id, owner.id if owner else None)).text,
    )


async def _find_player(
    tx: Reading, key: str, spelling: Codec, seen: HistoryFilter | None
) -> tuple[Player, StoredPlayer | None, HistoryChange | None]:
    """Find a player by id or name. A deleted player is found only by id, and is rebuilt from the audit log.

    `seen`: what the viewer may read of the audit log; None: nothing.
    """
    try:
        record = await lookup.find_player_record(tx, key)
    except NoSuchPlayer:
        deletion = await _find_deletion(tx, key, seen) if seen else None
        if deletion is None:
            raise
        return _rebuild_player(deletion, spelling), None, deletion
    return spelling.decode_player(record.document, record.last_online), record, None


async def _find_deletion(tx: Reading, key: str, seen: HistoryFilter) -> HistoryChange | None:
    player_id = lookup.parse_guid(key)
    if player_id is None:
        return None
    wanted = seen._replace(whose=player_id, kind=PlayerDeleted.kind)
    found = (await history.load_page(tx, wanted, None, 1)).changes
    return found[0] if found else None


def _rebuild_player(deletion: HistoryChange, spelling: Codec) -> Player:
    """Rebuild a deleted player from the change that deleted it. An erased player has no name and no owner any more."""
    trace = spelling.decode_side(deletion.before or b"{}")
    known = {name: value for name, value in trace.player.items() if value not in {None, ""}}
    least = {"id": deletion.player_id or lookup.ZERO_GUID, "user_id": lookup.ZERO_GUID, "name": ERASED_NAME}
    return make_player(least | known, trace.unknown)


def _list_neighbours(found: Ranking, spelling: Codec) -> list[tuple[int, Player]]:
    """List the player and its neighbours in the ranking with their ranks, best first."""
    ranked = sorted([*found.around, (found.rank, found.player)])
    return [(rank, spelling.decode_player(each.document, each.last_online)) for rank, each in ranked]


async def _load_texts(tx: Reading, player_id: str) -> list[ShownVariable]:
    """Load the player's variables that hold text or decimals."""
    found = await variable_rows.read_all_of_player(tx, player_id)
    texts = [each for each in found if each.text is not None]
    named = await catalogue.find_by_ids(tx, "variables", {each.variable_id for each in texts}) if texts else {}
    return [
        (
            each.variable_id,
            named[each.variable_id].name if each.variable_id in named else each.variable_id,
            variables.read_any_value(each),
        )
        for each in texts
    ]


def _sort_variables(
    held: Mapping[str, int | bool | None], names: Names, texts: Sequence[ShownVariable]
) -> list[ShownVariable]:
    """Return the player's variables as (id, name, value), sorted by name."""
    found = [(each, names.find_name("variables", each), value) for each, value in held.items() if value is not None]
    return sorted([*found, *texts], key=lambda each: (each[1], each[0]))


DIALOGS = (
    Dialog("teach_spell", "Teach %(spell)s to %(name)s"),
    Dialog("forget_spell", "Remove %(spell)s from %(name)s"),
    Dialog("set_variable", "Set %(variable)s of %(name)s", "Set %(variable)s of %(name)s to %(value)s"),
    Dialog("rename_player", "Rename %(name)s", "Rename %(name)s to %(new_name)s"),
    Dialog("set_level", "Set the level of %(name)s", "Set %(name)s to level %(level)s"),
    Dialog("set_class", "Set the class of %(name)s", "Set the class of %(name)s to %(class_name)s"),
    Dialog("delete_player", "Delete %(name)s"),
    Dialog("send_direct_chat", "Send a message to %(name)s"),
)
PAGES = (
    page_route("/players/[lookupKey]", show, PLAYERS).with_help(
        "One player: what it is, what it holds, and everything that happened to it. Every change shows a preview "
        "first and can be undone."
    ),
)
