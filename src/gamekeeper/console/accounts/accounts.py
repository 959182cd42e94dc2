"""The pages of accounts: the list with its filter, and one account with players, permissions, tokens and history."""

from collections.abc import Mapping, Sequence

import msgspec

from gamekeeper.console.access import roles
from gamekeeper.console.access import tokens as console_tokens
from gamekeeper.console.frame import api_calls, formats, list_page, pages
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.differences import UndoTitle
from gamekeeper.console.frame.formats import format_date
from gamekeeper.console.frame.menu import OWN, QUERY, SECURITY, SUPPORT
from gamekeeper.console.frame.routes import Dialog, ShownSubject, load_parts, page_route, show_parts
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.access import permissions
from gamekeeper.game.access.permissions import POWER_FLAGS, find_powers
from gamekeeper.game.accounts.changes import EmailChanged, UserRenamed
from gamekeeper.game.audit.timeline import Subjects
from gamekeeper.game.core import lookup
from gamekeeper.game.lists import account_filters
from gamekeeper.game.lists.search import MAX_MATCHES
from gamekeeper.http.contract.operation import STAFF
from gamekeeper.http.lists import search as operations
from gamekeeper.http.lists.search_shapes import AccountConditions
from gamekeeper.http.server import errors, queries, query_values
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.access import second_factors
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import moderation
from gamekeeper.store.accounts.moderation import ImposedPenalty
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import boards
from gamekeeper.store.lists.search import PART_LETTERS
from gamekeeper.store.players import players

TOKENS_SHOWN = 10  # newest active tokens on the account's page
PERMISSION_LABELS = PerLanguage(
    lambda: {  # permission name in the API → label and explanation on the page
        "api": (gettext("API access"), gettext("can sign in here and get tokens; revoking it revokes the tokens")),
        "users.query": (gettext("View accounts"), gettext("permission users.query")),
        "users.manage": (
            gettext("Manage accounts"),
            gettext("permission users.manage; includes viewing them, and signing in as anyone by setting a password"),
        ),
        "game.link": (gettext("Game server"), gettext("permission game.link")),
        "editor": (gettext("Edit the game"), gettext("in the game's editor")),
        "ban": (gettext("Ban"), gettext("can ban accounts and end bans")),
        "kick": (gettext("Kick"), gettext("can kick players from the game")),
        "mute": (gettext("Mute"), gettext("can mute accounts and end mutes")),
    }
)


async def show_account(request: Request) -> Response:
    subject, parts, shown = await request.services.keeper.store.read(lambda tx: _load_view(tx, request))
    return pages.render(
        request,
        "accounts/account.html",
        durations=formats.DURATIONS(),
        mail_set_up=bool(request.services.keeper.settings.smtp_url),
        own=request.caller.token_id,
        **shown,
        **await show_parts(request, subject, parts),
    )


async def _load_view(tx: Reading, request: Request) -> tuple[ShownSubject, Mapping[str, object], Mapping[str, object]]:
    """Load what the page shows from one consistent snapshot of the database, and what other rooms load for it."""
    user = await lookup.find_user_record(tx, request.params[0])
    read = request.services.keeper.changes.codec.decode_player
    home = f"/console/accounts/{user.id}"
    subject = ShownSubject(Subjects(None, user.id), address=home)
    viewer, table = await roles.load_roles(tx, request)
    rights, mine, below = request.caller.permissions, user.id == request.caller.account_id, roles.is_below(viewer, user)
    sees_tokens = mine or "users.manage" in rights
    can_write, held = not request.caller.read_only, permissions.list_roles(user)
    usable = roles.list_usable(request, viewer, table) if below and rights >= STAFF else []
    found = await players.read_records_of_user(tx, user.id)
    page = console_tokens.TokenPage([], None)
    if sees_tokens:
        page = await console_tokens.find_active(tx, user.id, query_values.START, TOKENS_SHOWN)
    # the owner and readers of the security log may see addresses and browsers of the account
    sign_ins = await console_tokens.find_sign_ins(tx, user.id, page) if mine or rights >= SECURITY else None
    shown: dict[str, object] = {
        "user": user,
        "mine": mine,
        "characters": [(read(each.document, each.last_online), each) for each in found],
        "online": any(each.online for each in found),
        "ban": await moderation.find_ban(tx, user.id) if user.ban_reason is not None else None,
        "mute": await moderation.find_mute(tx, user.id) if user.mute_reason is not None else None,
        "is_hidden": await boards.is_hidden(tx, user.id),
        "acts": roles.find_allowed_acts(request, viewer, user),
        "powers": PERMISSION_LABELS(),
        "granted": _list_powers(find_powers(user)),
        "grantable": _list_powers(find_powers(viewer) if viewer else Powers()),
        "edits_powers": below and "users.manage" in rights and can_write,
        "roles": [each for each in table.values() if each.name in held],
        "usable": usable,
        "offered": [each for each in usable if each not in held],
        "can_suspend": below and rights >= STAFF and can_write,
        "can_log_in": permissions.can_log_in(user),
        "sees_factors": mine or rights >= STAFF,
        "factors": await second_factors.read_of_user(tx, user.id),
        "below": below,
        "manages": "users.manage" in rights,
        "exports": "people.export" in rights,
        "sees_tokens": sees_tokens,
        "tokens": page.tokens,
        "more_tokens": page.next is not None,
        "sign_ins": sign_ins,
        "home": home,
        "operations": f"/api/v1/users/{user.id}",
    }
    return subject, await load_parts(tx, request, subject), shown


def _list_powers(powers: Powers) -> list[str]:
    """Return the directly granted permissions of the page that these powers have."""
    return [name for name in PERMISSION_LABELS() if getattr(powers, POWER_FLAGS[name])]


async def export_account(request: Request) -> Response:
    """Download all data of the account's person as a JSON file."""
    try:
        return await api_calls.send(request, ApiCall("GET", f"/api/keeper/v1/users/{request.params[0]}/export"))
    except Exception as error:  # noqa: BLE001 - the page of every error links back to the account
        back = f"/console/accounts/{request.params[0]}"
        return pages.render_refusal(request, errors.to_refusal(error, request.id), back=back)


async def show_own(request: Request) -> Response:
    """Show the caller's own account. Without the permission users.query, show only the caller's own tokens."""
    me = request.caller
    if "users.query" in me.permissions:
        return pages.redirect(f"/console/accounts/{me.account_id}")
    store = request.services.keeper.store
    page = await console_tokens.find_active(store, me.account_id, query_values.START, console_tokens.TOKENS_PER_PAGE)
    return pages.render(
        request,
        "accounts/me.html",
        tokens=page.tokens,
        more_tokens=page.next is not None,
        own=me.token_id,
        sign_ins=await console_tokens.find_sign_ins(store, me.account_id, page),
    )


STATE_LABELS = PerLanguage(
    lambda: {"banned": gettext("banned"), "muted": gettext("muted"), "powers": gettext("with permissions")}
)
PENALTY_READERS = {"banned": moderation.find_bans, "muted": moderation.find_mutes}
FROM, TO = "signedinfrom", "signedinto"
FURTHER = ("role", FROM, TO)  # query parameters of the further conditions


async def show(request: Request) -> Response:
    if to := list_page.find_jump(request):
        return pages.redirect(to)
    # without empty conditions, and with times instead of days
    query = {name: text for name, text in request.query.items() if text.strip() or name not in FURTHER}
    request = msgspec.structs.replace(request, query=list_page.expand_days(query, FROM, TO))
    state, given = list_page.read_choice(request, "state", STATE_LABELS()), request.query
    conditions = msgspec.structs.replace(
        queries.decode(AccountConditions, {name: given.get(name, "") for name in FURTHER}), state=state
    )
    sorts = account_filters.make_sorts(operations.read_account_filter(request, conditions))
    users, beside = await list_page.search_list(request, sorts)
    return pages.render(
        request,
        "accounts/accounts.html",
        accounts=[(user, list_permission_titles(user)) for user in users],
        given=given,
        state=state,
        states=STATE_LABELS(),
        roles=list(await role_rows.read_all(request.services.keeper.store)),
        has_times=request.caller.permissions >= SECURITY,  # whether the viewer may know when somebody signed in
        has_further=any(name in given for name in FURTHER),
        chips=list_page.make_chips(request, [(label, [name]) for name, label in _describe(given, state).items()]),
        everything=list_page.build_url(request, page="", **dict.fromkeys(("search", "state", *FURTHER), "")),
        imposed=await _find_penalties(request, state, users),
        signed_in=await operations.load_last_sign_ins(request, [each.id for each in users]),
        newest=list_page.build_url(request, sortby="", sortdirection="", page="") if beside["kept"] else "",
        has_newest=account_filters.NEWEST in sorts,
        most=MAX_MATCHES,
        views=await list_page.load_views(request, "accounts"),
        **beside,
    )


def list_permission_titles(user: User) -> list[str]:
    """Return the names of an account's roles and of its directly granted permissions."""
    flags = [PERMISSION_LABELS()[name][0] for name in _list_powers(user.powers)]
    return [*user.grants.roles, *flags, *sorted(user.grants.direct)]


def _describe(given: Mapping[str, str], state: str) -> dict[str, str]:
    """Describe the conditions in force: query parameter → label."""
    found: dict[str, str] = {}
    text = given.get("search", "")
    if len(lookup.fold(text)) >= PART_LETTERS:  # a shorter text is not searched
        found["search"] = gettext("Name or email contains %(text)s", text=text)
    if state:
        found["state"] = gettext("State: %(state)s", state=STATE_LABELS()[state])
    if role := given.get("role", ""):
        found["role"] = gettext("Role: %(name)s", name=role)
    if since := given.get(FROM, ""):
        found[FROM] = gettext("Signed in since %(time)s", time=format_date(since))
    if until := given.get(TO, ""):
        found[TO] = gettext("Last sign-in until %(time)s", time=format_date(until))
    return found


async def _find_penalties(request: Request, state: str, users: Sequence[User]) -> dict[str, ImposedPenalty]:
    """Return the listed accounts' bans or mutes by account id. A ban or mute that has just ended is missing."""
    if state not in PENALTY_READERS:
        return {}
    found = await PENALTY_READERS[state](request.services.keeper.store, [each.id for each in users])
    return {each.user_id: each for each in found}


DIALOGS = (
    Dialog("rename_user", "Rename %(name)s", "Rename %(name)s to %(new_name)s"),
    Dialog("manage_email", "Change the email of %(name)s", "Change the email of %(name)s to %(email)s"),
    Dialog("manage_password", "Set a new password for %(name)s"),
    Dialog("request_password_reset", "Send a password reset mail to %(name)s"),
)
UNDO_TITLES = (
    UndoTitle(UserRenamed.kind, "Undo: rename %(name)s back to %(former_name)s"),
    UndoTitle(EmailChanged.kind, "Undo: change the email of %(name)s back to %(former_email)s"),
)
PAGES = (
    page_route("/live/accounts", show, QUERY, used=False),
    page_route("/accounts", show, QUERY)
    .in_menu("Accounts", SUPPORT, 10, "account")
    .with_help("People who can log in. An account owns players, and may have roles of the staff."),
    page_route("/me", show_own).in_menu("My account", OWN, 10),
    page_route("/accounts/[lookupKey]", show_account, QUERY).with_help(
        "One account: its players, ban and mute, password, roles and tokens, and everything that happened to it."
    ),
    page_route("/accounts/[lookupKey]/file", export_account, frozenset({"people.export"})),
)
